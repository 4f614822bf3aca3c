
/*
 * A time as RFC 3339 writes it: 2026-11-27T12:00:00Z, 2026-11-27T12:00:00.5+01:00.
 */

#ifndef FT_RFC3339_H_INCLUDED
#define FT_RFC3339_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/*
 * Reads a time of 1970 or later into epoch ms, truncated.  False: malformed, no
 * such day or hour, or no offset.
 */
bool ft_rfc3339_read(const char *text, size_t len, uint64_t *ms);

#pragma GCC visibility pop


#endif /* FT_RFC3339_H_INCLUDED */
