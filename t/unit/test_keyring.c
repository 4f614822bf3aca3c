
/*
 * Secrets: the first signs, all verify, each can be removed.
 */

#include "tickets.h"


static void
test_secrets_rotate(void **unused)
{
    char           old[FT_TICKET_LEN], new[FT_TICKET_LEN];
    ft_ticket_t    ticket, back;
    ft_keyring_t  *before, *during, *after;

    (void) unused;

    ticket = ticket_plain();
    before = ring_of(SECRET_B, NULL);
    during = ring_of(SECRET_A, SECRET_B);
    after = ring_of(SECRET_A, NULL);

    ft_ticket_sign(before, &context_plain, &ticket, old);
    ft_ticket_sign(during, &context_plain, &ticket, new);

    assert_true(ft_ticket_verify(during, &context_plain, old, FT_TICKET_LEN,
                                 &back));
    assert_same(&ticket, &back);
    assert_true(ft_ticket_verify(during, &context_plain, new, FT_TICKET_LEN,
                                 &back));
    assert_true(ft_ticket_verify(after, &context_plain, new, FT_TICKET_LEN,
                                 &back));

    assert_false(ft_ticket_verify(after, &context_plain, old, FT_TICKET_LEN,
                                  &back));
    assert_false(ft_ticket_verify(before, &context_plain, new, FT_TICKET_LEN,
                                  &back));

    ft_keyring_free(before);
    ft_keyring_free(during);
    ft_keyring_free(after);
}


/* A key id is one byte: secrets with the same id both verify. */
static void
test_secrets_with_one_key_id(void **unused)
{
    char           first[32], other[32], text[FT_TICKET_LEN];
    uint8_t        want, raw[48];
    unsigned       i;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring, *both;

    (void) unused;

    ticket = ticket_plain();
    snprintf(first, sizeof(first), "%s", "one of two namesakes");
    ring = ring_of(first, NULL);
    ft_ticket_sign(ring, &context_plain, &ticket, text);
    decode(text, raw, sizeof(raw));
    want = raw[1];
    ft_keyring_free(ring);

    for (i = 0; ; i++) {
        assert_true(i < 10000);
        snprintf(other, sizeof(other), "namesake number %u", i);
        ring = ring_of(other, NULL);
        ft_ticket_sign(ring, &context_plain, &ticket, text);
        decode(text, raw, sizeof(raw));

        if (raw[1] == want) {
            break;
        }

        ft_keyring_free(ring);
    }

    both = ring_of(first, other);

    assert_true(ft_ticket_verify(both, &context_plain, text, FT_TICKET_LEN,
                                 &back));
    assert_same(&ticket, &back);

    ft_ticket_sign(both, &context_plain, &ticket, text);
    assert_false(ft_ticket_verify(ring, &context_plain, text, FT_TICKET_LEN,
                                  &back));

    ft_keyring_free(ring);
    ft_keyring_free(both);
}


static void
test_ring_sizes(void **unused)
{
    size_t         n;
    ft_secret_t    secrets[FT_SECRETS_MAX + 1];
    ft_keyring_t  *ring;

    (void) unused;

    for (n = 0; n <= FT_SECRETS_MAX; n++) {
        secrets[n].data = "sixteen bytes ok";
        secrets[n].len = 16;
    }

    assert_null(ft_keyring_create(secrets, 0));
    assert_null(ft_keyring_create(secrets, FT_SECRETS_MAX + 1));

    ring = ft_keyring_create(secrets, FT_SECRETS_MAX);
    assert_non_null(ring);
    ft_keyring_free(ring);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_secrets_rotate),
        cmocka_unit_test(test_secrets_with_one_key_id),
        cmocka_unit_test(test_ring_sizes)
    };

    return unit_tests(tests);
}
