
/*
 * In which form a client wants the status, by its Accept headers and by the
 * argument that overrules them.
 */

#ifndef FT_FORMAT_H_INCLUDED
#define FT_FORMAT_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* Of equal weight, the first of them; JSON where none is named. */
typedef enum {
    FT_FORMAT_JSON = 0,
    FT_FORMAT_OPENMETRICS,
    FT_FORMAT_PROMETHEUS,           /* text, version 0.0.4 */
    FT_FORMAT_HTML,
    FT_FORMATS
} ft_format_t;

/* The weights x 1000 of those named; zeroed before the first header. */
typedef struct {
    uint32_t        milli[FT_FORMATS];
} ft_formats_t;


/* Reads the text of one Accept header, in addition to those read before. */
void ft_format_accept(ft_formats_t *formats, const char *text, size_t len);

/* The format that is liked best. */
ft_format_t ft_format_best(const ft_formats_t *formats);

/* A format by its name; false: there is none of that name. */
bool ft_format_named(const char *name, size_t len, ft_format_t *format);

#pragma GCC visibility pop


#endif /* FT_FORMAT_H_INCLUDED */
