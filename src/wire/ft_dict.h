
/*
 * Dictionaries of structured field values (RFC 9651, section 3.2), read member by
 * member.  The RFC rejects a malformed text as a whole: use no member before the
 * last one has been read.
 */

#ifndef FT_DICT_H_INCLUDED
#define FT_DICT_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef enum {
    FT_DICT_BOOLEAN,
    FT_DICT_NUMBER,         /* an Integer or a Decimal */
    FT_DICT_OTHER           /* any other item, or an inner list */
} ft_dict_kind_t;


typedef struct {
    const char       *name;
    size_t            len;
    ft_dict_kind_t    kind;
    bool              yes;          /* FT_DICT_BOOLEAN */
    int64_t           milli;        /* FT_DICT_NUMBER: the value x 1000 */
} ft_dict_member_t;


typedef struct {
    const char       *pos;
    const char       *end;
    bool              started;
} ft_dict_t;


typedef enum {
    FT_DICT_MEMBER,
    FT_DICT_END,
    FT_DICT_MALFORMED       /* at dict->pos */
} ft_dict_answer_t;


/* Starts reading a text; several lines are joined by ", " before. */
static inline ft_dict_t
ft_dict(const char *text, size_t len)
{
    ft_dict_t  dict = { text, text + len, false };

    return dict;
}


/* The next member; its parameters are skipped. */
ft_dict_answer_t ft_dict_next(ft_dict_t *dict, ft_dict_member_t *member);

#pragma GCC visibility pop


#endif /* FT_DICT_H_INCLUDED */
