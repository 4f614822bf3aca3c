
/*
 * The format of the stats that a client asks for, by its Accept headers or by
 * the argument ?format=, which takes precedence.
 */

#ifndef FT_FORMAT_H_INCLUDED
#define FT_FORMAT_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* Of equal weights the first wins; JSON is the default. */
typedef enum {
    FT_FORMAT_JSON = 0,
    FT_FORMAT_OPENMETRICS,
    FT_FORMAT_PROMETHEUS,           /* text, version 0.0.4 */
    FT_FORMAT_HTML,
    FT_FORMATS
} ft_format_t;

/* Weights x 1000; zeroed before the first header. */
typedef struct {
    uint32_t        milli[FT_FORMATS];
} ft_formats_t;


/* Reads one Accept header, in addition to those before. */
void ft_format_accept(ft_formats_t *formats, const char *text, size_t len);

/* The format with the greatest weight. */
ft_format_t ft_format_best(const ft_formats_t *formats);

/* A format by its name.  False: there is none. */
bool ft_format_named(const char *name, size_t len, ft_format_t *format);

#pragma GCC visibility pop


#endif /* FT_FORMAT_H_INCLUDED */
