
#include <string.h>
#include "ft_accept.h"
#include "ft_format.h"


static const struct {
    const char     *name;
    const char     *type;
} ft_format_names[FT_FORMATS] = {
    [FT_FORMAT_JSON] = { "json", "application/json" },
    [FT_FORMAT_OPENMETRICS] = { "openmetrics", "application/openmetrics-text" },
    [FT_FORMAT_PROMETHEUS] = { "prometheus", "text/plain" },
    [FT_FORMAT_HTML] = { "html", "text/html" }
};


void
ft_format_accept(ft_formats_t *formats, const char *text, size_t len)
{
    uint32_t     i;
    ft_accept_range_t   range;
    const char  *end;

    end = text + len;

    while (ft_accept_next(&text, end, &range)) {

        for (i = 0; i < FT_FORMATS; i++) {

            if (ft_accept_is(&range, ft_format_names[i].type)
                && range.milli > formats->milli[i])
            {
                formats->milli[i] = range.milli;
            }
        }
    }
}


ft_format_t
ft_format_best(const ft_formats_t *formats)
{
    uint32_t  i, best;

    best = FT_FORMAT_JSON;

    for (i = 1; i < FT_FORMATS; i++) {
        if (formats->milli[i] > formats->milli[best]) {
            best = i;
        }
    }

    return (ft_format_t) best;
}


bool
ft_format_named(const char *name, size_t len, ft_format_t *format)
{
    uint32_t  i;

    for (i = 0; i < FT_FORMATS; i++) {

        if (len == strlen(ft_format_names[i].name)
            && memcmp(name, ft_format_names[i].name, len) == 0)
        {
            *format = (ft_format_t) i;
            return true;
        }
    }

    return false;
}
