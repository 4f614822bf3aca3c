
#include <string.h>
#include <openssl/crypto.h>
#include "ft_ticket.h"


/*
 * The body, big-endian:
 *
 *     0   version << 4 | kind          12  due_ms - seen_ms, 4 bytes
 *     1   key id                       16  generation, 4 bytes
 *     2   first_ms, 6 bytes            20  id, 8 bytes
 *     8   seen_ms - first_ms, 4 bytes  28  place; 29 to 31: zero
 */

#define FT_TICKET_VERSION  1
#define FT_TICKET_BYTES    (FT_TICKET_BODY_LEN + FT_TICKET_MAC_LEN)

/* bound to the texts of tickets in logs: it does not change */
#define FT_SHUFFLE_LABEL   "flash_throttle draw"

/* seen_ms - first_ms has 32 bits */
#define FT_TICKET_SPAN_MS  (UINT64_C(1) << 31)


#define FT_NO_DIGIT  0x40


static const char  ft_ticket_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";


/* The values of the digits plus 1; 0: not a digit. */
static const uint8_t  ft_ticket_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,
    ['G'] = 7,  ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12,
    ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18,
    ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
    ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
    ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
    ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54,
    ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
    ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64
};


static void
ft_ticket_put(uint8_t *p, uint64_t value, unsigned bytes)
{
    while (bytes--) {
        p[bytes] = (uint8_t) value;
        value >>= 8;
    }
}


static uint64_t
ft_ticket_get(const uint8_t *p, unsigned bytes)
{
    uint64_t  value;

    for (value = 0; bytes; bytes--) {
        value = value << 8 | *p++;
    }

    return value;
}


/* FT_NO_DIGIT, or more, is in the result if a character is not a digit. */
static uint32_t
ft_ticket_value(char c)
{
    return (ft_ticket_values[(uint8_t) c] - 1u) & (FT_NO_DIGIT * 4 - 1);
}


static void
ft_ticket_encode(const uint8_t bytes[FT_TICKET_BYTES], char *text)
{
    size_t    i;
    uint32_t  group;

    for (i = 0; i < FT_TICKET_BYTES; i += 3, text += 4) {
        group = (uint32_t) bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];

        text[0] = ft_ticket_digits[group >> 18];
        text[1] = ft_ticket_digits[group >> 12 & 63];
        text[2] = ft_ticket_digits[group >> 6 & 63];
        text[3] = ft_ticket_digits[group & 63];
    }
}


/* 64 digits are 48 bytes: there are no spare bits. */
static bool
ft_ticket_decode(const char *text, uint8_t bytes[FT_TICKET_BYTES])
{
    size_t    i;
    uint32_t  a, b, c, d, bad;

    bad = 0;

    for (i = 0; i < FT_TICKET_BYTES; i += 3, text += 4) {
        a = ft_ticket_value(text[0]);
        b = ft_ticket_value(text[1]);
        c = ft_ticket_value(text[2]);
        d = ft_ticket_value(text[3]);

        bad |= a | b | c | d;

        bytes[i] = (uint8_t) (a << 2 | b >> 4);
        bytes[i + 1] = (uint8_t) (b << 4 | c >> 2);
        bytes[i + 2] = (uint8_t) (c << 6 | d);
    }

    return bad < FT_NO_DIGIT;
}


/* The lengths of zone and key precede them, so no two contexts read alike. */
static bool
ft_ticket_mac(const ft_keyring_t *ring, size_t i,
    const ft_ticket_context_t *context, const uint8_t *body,
    uint8_t mac[FT_KEYRING_MAC_LEN])
{
    uint8_t  head[FT_TICKET_BODY_LEN + 4];

    const ft_secret_t  parts[] = {
        { head, sizeof(head) },
        { context->zone, context->zone_len },
        { context->key, context->key_len },
        { context->bind, context->bind_len }
    };

    memcpy(head, body, FT_TICKET_BODY_LEN);
    ft_ticket_put(head + FT_TICKET_BODY_LEN, context->zone_len, 2);
    ft_ticket_put(head + FT_TICKET_BODY_LEN + 2, context->key_len, 2);

    return ft_keyring_mac(ring, i, parts, context->bind_len ? 4 : 3, mac);
}


bool
ft_ticket_sign(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const ft_ticket_t *ticket, char *text)
{
    uint8_t  bytes[FT_TICKET_BYTES], mac[FT_KEYRING_MAC_LEN];

    bytes[0] = (uint8_t) (FT_TICKET_VERSION << 4 | ticket->kind);
    bytes[1] = ft_keyring_id(ring, 0);
    ft_ticket_put(bytes + 2, ticket->first_ms, 6);
    ft_ticket_put(bytes + 8, ticket->seen_ms - ticket->first_ms, 4);
    ft_ticket_put(bytes + 12, ticket->due_ms - ticket->seen_ms, 4);
    ft_ticket_put(bytes + 16, ticket->generation, 4);
    ft_ticket_put(bytes + 20, ticket->id, 8);
    ft_ticket_put(bytes + 28, (uint32_t) ticket->place << 24, 4);

    if (!ft_ticket_mac(ring, 0, context, bytes, mac)) {
        return false;
    }

    memcpy(bytes + FT_TICKET_BODY_LEN, mac, FT_TICKET_MAC_LEN);
    ft_ticket_encode(bytes, text);

    return true;
}


/* A signed body may still be of a later version. */
static bool
ft_ticket_read(const uint8_t *body, ft_ticket_t *ticket)
{
    if (body[0] >> 4 != FT_TICKET_VERSION) {
        return false;
    }

    switch (body[0] & 15) {

    case FT_TICKET_WAIT:
        ticket->kind = FT_TICKET_WAIT;
        break;

    case FT_TICKET_PASS:
        ticket->kind = FT_TICKET_PASS;
        break;

    default:
        return false;
    }

    ticket->first_ms = ft_ticket_get(body + 2, 6);
    ticket->seen_ms = ticket->first_ms + ft_ticket_get(body + 8, 4);
    ticket->due_ms = ticket->seen_ms + ft_ticket_get(body + 12, 4);
    ticket->generation = (uint32_t) ft_ticket_get(body + 16, 4);
    ticket->id = ft_ticket_get(body + 20, 8);
    ticket->place = body[28];
    ticket->shuffle = 0;

    return true;
}


/* The first three digits are the version, the kind and the key id. */
bool
ft_ticket_possible(const ft_keyring_t *ring, const char *text, size_t len)
{
    size_t    i;
    uint8_t   id;
    uint32_t  first, second, third;

    if (len != FT_TICKET_LEN) {
        return false;
    }

    first = ft_ticket_value(text[0]);
    second = ft_ticket_value(text[1]);
    third = ft_ticket_value(text[2]);

    if ((first | second | third) >= FT_NO_DIGIT
        || first >> 2 != FT_TICKET_VERSION)
    {
        return false;
    }

    id = (uint8_t) (second << 4 | third >> 2);

    for (i = 0; i < ft_keyring_size(ring); i++) {
        if (ft_keyring_id(ring, i) == id) {
            return true;
        }
    }

    return false;
}


bool
ft_ticket_verify(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const char *text, size_t len, ft_ticket_t *ticket)
{
    size_t   i;
    uint8_t  bytes[FT_TICKET_BYTES], mac[FT_KEYRING_MAC_LEN];

    if (len != FT_TICKET_LEN || !ft_ticket_decode(text, bytes)) {
        return false;
    }

    for (i = 0; i < ft_keyring_size(ring); i++) {

        if (ft_keyring_id(ring, i) == bytes[1]
            && ft_ticket_mac(ring, i, context, bytes, mac)
            && CRYPTO_memcmp(mac, bytes + FT_TICKET_BODY_LEN,
                             FT_TICKET_MAC_LEN)
               == 0)
        {
            return ft_ticket_read(bytes, ticket);
        }
    }

    return false;
}


bool
ft_ticket_usable(const ft_ticket_t *ticket, uint64_t now_ms)
{
    if (ticket->first_ms > now_ms + FT_TICKET_SKEW_MS) {
        return false;
    }

    if (ticket->kind == FT_TICKET_PASS) {
        return ticket->due_ms > now_ms
               && ticket->seen_ms <= now_ms + FT_TICKET_SKEW_MS;
    }

    return ticket->first_ms + FT_TICKET_AGE_MAX_MS > now_ms;
}


bool
ft_ticket_awaits(const ft_ticket_t *ticket, uint64_t opens_ms, uint64_t now_ms)
{
    return ticket->kind == FT_TICKET_WAIT
           && ticket->first_ms < opens_ms
           && now_ms < opens_ms + FT_TICKET_AGE_MAX_MS
           && now_ms < ticket->first_ms + FT_TICKET_SPAN_MS;
}


uint64_t
ft_ticket_shuffle(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    uint64_t opens_ms, uint64_t id)
{
    uint8_t  head[20], mac[FT_KEYRING_MAC_LEN];

    const ft_secret_t  parts[] = {
        { FT_SHUFFLE_LABEL, sizeof(FT_SHUFFLE_LABEL) - 1 },
        { head, sizeof(head) },
        { context->zone, context->zone_len },
        { context->key, context->key_len }
    };

    ft_ticket_put(head, opens_ms, 8);
    ft_ticket_put(head + 8, id, 8);
    ft_ticket_put(head + 16, context->zone_len, 2);
    ft_ticket_put(head + 18, context->key_len, 2);

    return ft_keyring_mac(ring, ft_keyring_size(ring) - 1, parts, 4, mac)
           ? ft_ticket_get(mac, 8) : 0;
}
