
/*
 * Tickets: only what was signed verifies.
 */

#include "tickets.h"
#include <openssl/hmac.h>


static void
encode(const uint8_t *raw, char *text)
{
    int   i;
    char  plain[FT_TICKET_LEN + 1];

    EVP_EncodeBlock((uint8_t *) plain, raw,
                    FT_TICKET_BODY_LEN + FT_TICKET_MAC_LEN);

    for (i = 0; i < FT_TICKET_LEN; i++) {
        text[i] = plain[i] == '+' ? '-' : plain[i] == '/' ? '_' : plain[i];
    }
}


/* The documented signature, without the code under test. */
static void
independent_mac(const char *secret, size_t secret_len,
    const ft_ticket_context_t *c, const uint8_t *body, uint8_t *mac)
{
    size_t    n;
    uint8_t   text[4096];
    unsigned  len;

    n = FT_TICKET_BODY_LEN;
    memcpy(text, body, n);

    text[n++] = (uint8_t) (c->zone_len >> 8);
    text[n++] = (uint8_t) c->zone_len;
    text[n++] = (uint8_t) (c->key_len >> 8);
    text[n++] = (uint8_t) c->key_len;

    memcpy(text + n, c->zone, c->zone_len);
    n += c->zone_len;
    memcpy(text + n, c->key, c->key_len);
    n += c->key_len;
    memcpy(text + n, c->bind, c->bind_len);
    n += c->bind_len;

    assert_non_null(HMAC(EVP_sha256(), secret, (int) secret_len, text, n, mac,
                         &len));
    assert_int_equal(len, 32);
}


/* RFC 4231's test vectors for the independent implementation. */
static void
test_the_independent_hmac(void **unused)
{
    uint8_t        key[131], mac[32];
    unsigned       len;
    const uint8_t  case1[] = { 0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53 };
    const uint8_t  case6[] = { 0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f };
    const char    *text6 = "Test Using Larger Than Block-Size Key - Hash Key "
                           "First";

    (void) unused;

    memset(key, 0x0b, 20);
    HMAC(EVP_sha256(), key, 20, (const uint8_t *) "Hi There", 8, mac, &len);
    assert_memory_equal(mac, case1, sizeof(case1));

    memset(key, 0xaa, sizeof(key));
    HMAC(EVP_sha256(), key, sizeof(key), (const uint8_t *) text6,
         strlen(text6), mac, &len);
    assert_memory_equal(mac, case6, sizeof(case6));
}


/* Secrets shorter than a block, of a block, and longer; long contexts. */
static void
test_signature_is_hmac_sha256(void **unused)
{
    char                 secret[200], text[FT_TICKET_LEN], filler[1024];
    size_t               i;
    uint8_t              raw[48], mac[32];
    ft_ticket_t          ticket;
    ft_secret_t          one;
    ft_keyring_t        *ring;
    ft_ticket_context_t  context;
    const size_t         lens[] = { 16, 20, 63, 64, 65, 131, 200 };
    const size_t         binds[] = { 0, 1, 17, 18, 19, 63, 64, 500, 1024 };

    (void) unused;

    ticket = ticket_plain();

    for (i = 0; i < sizeof(secret); i++) {
        secret[i] = (char) (i * 37 + 11);
    }

    memset(filler, 'x', sizeof(filler));

    for (i = 0; i < 7 * 9; i++) {
        context = context_plain;
        context.bind = filler;
        context.bind_len = binds[i % 9];

        one.data = secret;
        one.len = lens[i / 9];
        ring = ft_keyring_create(&one, 1);
        assert_non_null(ring);

        ft_ticket_sign(ring, &context, &ticket, text);
        decode(text, raw, sizeof(raw));
        independent_mac(secret, one.len, &context, raw, mac);

        assert_memory_equal(raw + FT_TICKET_BODY_LEN, mac, FT_TICKET_MAC_LEN);

        ft_keyring_free(ring);
    }
}


/* Later versions must read these tickets. */
static void
test_layout(void **unused)
{
    char           text[FT_TICKET_LEN];
    uint8_t        raw[48], mac[32];
    unsigned       len;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring;
    const char     golden[] =
        "EVkBm3baqAAAABDhAAAE0sr-8A0BI0VniavN7wsAAADGNZh4lHX-V14ZkY6MiM6m";
    const uint8_t  body[] = {
        0x11, 0x00, 0x01, 0x9b, 0x76, 0xda, 0xa8, 0x00,
        0x00, 0x00, 0x10, 0xe1, 0x00, 0x00, 0x04, 0xd2,
        0xca, 0xfe, 0xf0, 0x0d, 0x01, 0x23, 0x45, 0x67,
        0x89, 0xab, 0xcd, 0xef, 0x0b, 0x00, 0x00, 0x00
    };

    (void) unused;

    ticket = ticket_plain();
    ring = ring_of(SECRET_A, NULL);

    ft_ticket_sign(ring, &context_plain, &ticket, text);
    decode(text, raw, sizeof(raw));

    /* the second byte is the key id, from the secret */

    assert_non_null(HMAC(EVP_sha256(), SECRET_A, sizeof(SECRET_A) - 1,
                         (const uint8_t *) "flash_throttle key id", 21, mac,
                         &len));
    assert_int_equal(raw[1], mac[0]);

    raw[1] = 0;
    assert_memory_equal(raw, body, sizeof(body));
    assert_memory_equal(text, golden, FT_TICKET_LEN);

    assert_true(ft_ticket_verify(ring, &context_plain, golden, FT_TICKET_LEN,
                                 &back));
    assert_same(&ticket, &back);

    ft_keyring_free(ring);
}


static void
test_round_trip(void **unused)
{
    char           text[FT_TICKET_LEN];
    unsigned       i;
    uint64_t       seed;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring;

    (void) unused;

    seed = 1;
    ring = ring_of(SECRET_A, SECRET_B);

    for (i = 0; i < 2000; i++) {
        memset(&ticket, 0, sizeof(ticket));
        ticket.id = unit_random(&seed);
        ticket.first_ms = unit_random(&seed) >> 16;
        ticket.seen_ms = ticket.first_ms + (uint32_t) unit_random(&seed);
        ticket.due_ms = ticket.seen_ms + (uint32_t) unit_random(&seed);
        ticket.generation = (uint32_t) unit_random(&seed);
        ticket.kind = i % 2 ? FT_TICKET_WAIT : FT_TICKET_PASS;
        ticket.place = (uint8_t) unit_random(&seed);

        ft_ticket_sign(ring, &context_plain, &ticket, text);
        assert_true(ft_ticket_verify(ring, &context_plain, text,
                                     FT_TICKET_LEN, &back));
        assert_same(&ticket, &back);
    }

    ft_keyring_free(ring);
}


static void
test_text_is_cookie_safe(void **unused)
{
    char           text[FT_TICKET_LEN];
    unsigned       i, k;
    ft_ticket_t    ticket;
    ft_keyring_t  *ring;
    const char    *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789-_";

    (void) unused;

    ring = ring_of(SECRET_A, NULL);
    ticket = ticket_plain();

    for (i = 0; i < 200; i++) {
        ticket.id = i * UINT64_C(0x9e3779b97f4a7c15);
        ft_ticket_sign(ring, &context_plain, &ticket, text);

        for (k = 0; k < FT_TICKET_LEN; k++) {
            assert_non_null(memchr(digits, text[k], 64));
        }
    }

    ft_keyring_free(ring);
}


static void
test_every_flipped_bit_is_refused(void **unused)
{
    char           text[FT_TICKET_LEN];
    uint8_t        raw[48];
    unsigned       bit;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring;

    (void) unused;

    ring = ring_of(SECRET_A, SECRET_B);
    ticket = ticket_plain();
    ft_ticket_sign(ring, &context_plain, &ticket, text);

    /* of the text */

    for (bit = 0; bit < FT_TICKET_LEN * 8; bit++) {
        text[bit / 8] ^= (char) (1 << bit % 8);
        assert_false(ft_ticket_verify(ring, &context_plain, text,
                                      FT_TICKET_LEN, &back));
        text[bit / 8] ^= (char) (1 << bit % 8);
    }

    /* of the decoded bytes */

    decode(text, raw, sizeof(raw));

    for (bit = 0; bit < sizeof(raw) * 8; bit++) {
        raw[bit / 8] ^= (uint8_t) (1 << bit % 8);
        encode(raw, text);
        assert_false(ft_ticket_verify(ring, &context_plain, text,
                                      FT_TICKET_LEN, &back));

        /* refused before the signature: another version, an unknown secret */
        assert_int_equal(ft_ticket_possible(ring, text, FT_TICKET_LEN),
                         bit < 4 || bit >= 16);
        raw[bit / 8] ^= (uint8_t) (1 << bit % 8);
    }

    encode(raw, text);
    assert_true(ft_ticket_verify(ring, &context_plain, text, FT_TICKET_LEN,
                                 &back));

    ft_keyring_free(ring);
}


/* One spelling only: no other length, alphabet, padding or space. */
static void
test_only_one_spelling(void **unused)
{
    char           text[FT_TICKET_LEN + 4], bad[FT_TICKET_LEN + 4];
    unsigned       c, i, good;
    size_t         len;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring;

    (void) unused;

    ring = ring_of(SECRET_A, NULL);
    ticket = ticket_plain();
    ft_ticket_sign(ring, &context_plain, &ticket, text);
    memcpy(text + FT_TICKET_LEN, "AA==", 4);

    for (len = 0; len <= FT_TICKET_LEN + 4; len++) {
        assert_int_equal(ft_ticket_verify(ring, &context_plain, text, len,
                                          &back),
                         len == FT_TICKET_LEN);
    }

    /* one of 256 bytes is right in each position */

    for (i = 0; i < FT_TICKET_LEN; i++) {
        memcpy(bad, text, FT_TICKET_LEN);

        for (c = 0, good = 0; c < 256; c++) {
            bad[i] = (char) c;
            good += ft_ticket_verify(ring, &context_plain, bad, FT_TICKET_LEN,
                                     &back);
        }

        assert_int_equal(good, 1);
    }

    ft_keyring_free(ring);
}


/* A valid signature, but another version or kind. */
static void
test_other_versions_are_refused(void **unused)
{
    char           text[FT_TICKET_LEN];
    uint8_t        raw[48], mac[32];
    unsigned       head, good;
    ft_ticket_t    ticket, back;
    ft_keyring_t  *ring;

    (void) unused;

    ring = ring_of(SECRET_A, NULL);
    ticket = ticket_plain();
    ft_ticket_sign(ring, &context_plain, &ticket, text);
    decode(text, raw, sizeof(raw));

    for (head = 0, good = 0; head < 256; head++) {
        raw[0] = (uint8_t) head;
        independent_mac(SECRET_A, sizeof(SECRET_A) - 1, &context_plain, raw,
                        mac);
        memcpy(raw + FT_TICKET_BODY_LEN, mac, FT_TICKET_MAC_LEN);
        encode(raw, text);

        if (ft_ticket_verify(ring, &context_plain, text, FT_TICKET_LEN, &back))
        {
            assert_int_equal(head >> 4, 1);
            assert_int_equal(head & 15, back.kind);
            good++;
        }
    }

    assert_int_equal(good, 2);

    ft_keyring_free(ring);
}


/* Contexts whose concatenated parts are equal are different. */
static void
test_other_contexts_are_refused(void **unused)
{
    char                 text[FT_TICKET_LEN], filler[300];
    size_t               i;
    ft_ticket_t          ticket, back;
    ft_keyring_t        *ring;
    ft_ticket_context_t  own = { "sale", 4, "shop", 4, "10.0.0.1", 8 };
    ft_ticket_context_t  others[] = {
        { "sald", 4, "shop", 4, "10.0.0.1", 8 },
        { "sale", 4, "shoq", 4, "10.0.0.1", 8 },
        { "sale", 4, "shop", 4, "10.0.0.2", 8 },
        { "sale", 4, "shop", 4, "", 0 },
        { "sale", 4, "", 0, "10.0.0.1", 8 },
        { "sal", 3, "eshop", 5, "10.0.0.1", 8 },
        { "sales", 5, "hop", 3, "10.0.0.1", 8 },
        { "sale", 4, "shop1", 5, "0.0.0.1", 7 },
        { "sale", 4, "sho", 3, "p10.0.0.1", 9 },
        { "saleshop", 8, "", 0, "10.0.0.1", 8 },
        { "sale", 4, "shop", 4, "10.0.0.1\0", 9 }
    };

    (void) unused;

    ring = ring_of(SECRET_A, NULL);
    ticket = ticket_plain();
    ft_ticket_sign(ring, &own, &ticket, text);

    assert_true(ft_ticket_verify(ring, &own, text, FT_TICKET_LEN, &back));

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        unit_check(!ft_ticket_verify(ring, &others[i], text, FT_TICKET_LEN,
                                     &back),
                   "context %u is taken for another", (unsigned) i);
    }

    memset(filler, 'y', sizeof(filler));
    own.bind = filler;
    own.bind_len = sizeof(filler);
    ft_ticket_sign(ring, &own, &ticket, text);

    assert_true(ft_ticket_verify(ring, &own, text, FT_TICKET_LEN, &back));

    for (i = 0; i < sizeof(filler); i++) {
        own.bind_len = i;
        assert_false(ft_ticket_verify(ring, &own, text, FT_TICKET_LEN, &back));
    }

    ft_keyring_free(ring);
}


static void
test_age_and_skew(void **unused)
{
    uint64_t     now;
    ft_ticket_t  ticket;

    (void) unused;

    ticket = ticket_plain();
    now = ticket.first_ms;

    /* a timestamp ahead of the skew is refused */

    assert_true(ft_ticket_usable(&ticket, now));
    assert_true(ft_ticket_usable(&ticket, now - FT_TICKET_SKEW_MS));
    assert_false(ft_ticket_usable(&ticket, now - FT_TICKET_SKEW_MS - 1));

    /* an overdue ticket is usable for a day */

    assert_true(ft_ticket_usable(&ticket, ticket.due_ms + 3600000));
    assert_true(ft_ticket_usable(&ticket, now + FT_TICKET_AGE_MAX_MS - 1));
    assert_false(ft_ticket_usable(&ticket, now + FT_TICKET_AGE_MAX_MS));

    /* a pass is usable until it ends */

    ticket.kind = FT_TICKET_PASS;
    ticket.due_ms = ticket.seen_ms + 600000;

    assert_true(ft_ticket_usable(&ticket, ticket.due_ms - 1));
    assert_false(ft_ticket_usable(&ticket, ticket.due_ms));
    assert_false(ft_ticket_usable(&ticket, ticket.first_ms
                                           - FT_TICKET_SKEW_MS - 1));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_the_independent_hmac),
        cmocka_unit_test(test_signature_is_hmac_sha256),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_text_is_cookie_safe),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_only_one_spelling),
        cmocka_unit_test(test_other_versions_are_refused),
        cmocka_unit_test(test_other_contexts_are_refused),
        cmocka_unit_test(test_age_and_skew)
    };

    return unit_tests(tests);
}
