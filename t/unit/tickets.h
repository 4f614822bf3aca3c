
/*
 * For the tests of tickets and secrets.
 */

#ifndef TICKETS_H_INCLUDED
#define TICKETS_H_INCLUDED


#include "unit.h"
#include <openssl/evp.h>
#include "core.h"
#include "ft_ticket.h"


#define SECRET_A  "the first secret, signing"
#define SECRET_B  "another one, of the day before"


static const ft_ticket_context_t  context_plain = {
    "sale", 4, "shop-1", 6, "", 0
};


static inline ft_keyring_t *
ring_of(const char *first, const char *second)
{
    ft_keyring_t  *ring;
    ft_secret_t    secrets[2];

    secrets[0].data = first;
    secrets[0].len = strlen(first);

    if (second) {
        secrets[1].data = second;
        secrets[1].len = strlen(second);
    }

    ring = ft_keyring_create(secrets, second ? 2 : 1);
    assert_non_null(ring);

    return ring;
}


static inline ft_ticket_t
ticket_plain(void)
{
    ft_ticket_t  ticket = {
        .id = UINT64_C(0x0123456789abcdef),
        .first_ms = UNIT_EPOCH_MS,
        .seen_ms = UNIT_EPOCH_MS + 4321,
        .due_ms = UNIT_EPOCH_MS + 4321 + 1234,
        .generation = 0xcafef00d,
        .kind = FT_TICKET_WAIT,
        .place = 3 | FT_PLACE_COARSE
    };

    return ticket;
}


static inline void
assert_same(const ft_ticket_t *a, const ft_ticket_t *b)
{
    assert_true(a->id == b->id);
    assert_true(a->first_ms == b->first_ms);
    assert_true(a->seen_ms == b->seen_ms);
    assert_true(a->due_ms == b->due_ms);
    assert_int_equal(a->generation, b->generation);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->place, b->place);
}


/* base64url without padding, decoded by OpenSSL */
static inline void
decode(const char *text, uint8_t *raw, int len)
{
    int   i;
    char  plain[FT_TICKET_LEN + 1];

    for (i = 0; i < FT_TICKET_LEN; i++) {
        plain[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    }

    plain[FT_TICKET_LEN] = '\0';
    assert_int_equal(EVP_DecodeBlock(raw, (const uint8_t *) plain,
                                     FT_TICKET_LEN),
                     len);
}


#endif /* TICKETS_H_INCLUDED */
