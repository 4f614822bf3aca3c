
#include "require.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


bool
ft_require_add(ft_requires_t *requires, const char *text)
{
    int            end;
    double         value, tolerance;
    size_t         len;
    const char    *sign;
    ft_require_t  *require;

    if (requires->n == FT_REQUIRES_MAX) {
        return false;
    }

    require = &requires->list[requires->n];

    len = strcspn(text, "<>=");
    sign = text + len;
    require->figure = ft_figures_find(text, len);
    require->text = sign;
    require->min = -INFINITY;
    require->max = INFINITY;

    if (require->figure == FT_FIGURES) {
        return false;
    }

    end = 0;
    tolerance = 0;

    if (sscanf(sign, ">=%lf%n", &value, &end) == 1) {
        require->min = value;

    } else if (sscanf(sign, "<=%lf%n", &value, &end) == 1) {
        require->max = value;

    } else if (sscanf(sign, "=%lf%n+-%lf%n", &value, &end, &tolerance, &end)
               >= 1)
    {
        require->min = value - tolerance;
        require->max = value + tolerance;

    } else {
        return false;
    }

    requires->n++;

    return sign[end] == '\0';
}


bool
ft_require_met(const ft_require_t *require, const ft_summary_t *summary)
{
    double  mean;

    mean = summary->range[require->figure].mean;

    return mean >= require->min && mean <= require->max;
}
