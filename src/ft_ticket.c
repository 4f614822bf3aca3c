
/*
 * Signed tickets: see ft_ticket.h.
 *
 * The body, big-endian:
 *
 *     0   version << 4 | kind          12  due_ms - seen_ms, 4 bytes
 *     1   key id                       16  epoch, 4 bytes
 *     2   first_ms, 6 bytes            20  id, 8 bytes
 *     8   seen_ms - first_ms, 4 bytes  28  place; 29 to 31: zero
 */

/*
 * The SHA-256 calls of OpenSSL 1.1, and of these only the one that hashes a
 * block: two HMACs of a block or two are made for each poll, and the calls
 * above that one cost as much again as it does.
 */
#define OPENSSL_API_COMPAT  0x10100000L

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include "ft_ticket.h"


#define FT_TICKET_VERSION  1
#define FT_KEY_ID_LABEL    "flash_throttle key id"
#define FT_DRAW_LABEL      "flash_throttle draw"
#define FT_NO_DIGIT        0x40

/* from the first attempt to when it was last seen, in 32 bits; and to spare */
#define FT_TICKET_SPAN_MS  (UINT64_C(1) << 31)

#define FT_FIRST_MASK      ((UINT64_C(1) << 48) - 1)

/* what of a block of SHA-256 is left in front of the message's length */
#define FT_LAST_BLOCK_LEN  (SHA256_CBLOCK - 8)

/* a ticket as numbers, each of eight bytes: its body, then its MAC */
#define FT_BODY_WORDS      (FT_TICKET_BODY_LEN / 8)
#define FT_MAC_WORDS       (FT_TICKET_MAC_LEN / 8)
#define FT_WORDS           (FT_BODY_WORDS + FT_MAC_WORDS)


/* HMAC (RFC 2104) as far as the pads: hashed once, copied for each message. */
typedef struct {
    SHA256_CTX        inner;        /* after the block of key ^ ipad */
    SHA256_CTX        outer;        /* after the block of key ^ opad */
    uint8_t           id;
} ft_key_t;


/* A message on its way through the inner hash. */
typedef struct {
    SHA256_CTX        sha;
    uint64_t          len;          /* of the message, so far */
    uint8_t           block[SHA256_CBLOCK];
} ft_mac_t;


struct ft_keyring_s {
    size_t            n;
    ft_key_t          keys[FT_SECRETS_MAX];
    uint8_t           digit[256];   /* base64url digits' values */
};


static const char  ft_base64url[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";


static void
ft_put32(uint8_t *p, uint32_t value)
{
    value = htobe32(value);
    memcpy(p, &value, sizeof(value));
}


static void
ft_put64(uint8_t *p, uint64_t value)
{
    value = htobe64(value);
    memcpy(p, &value, sizeof(value));
}


/*
 * SHA-256 and base64 read sixteen bytes at a time, and what was written in smaller
 * parts just before has to reach the cache first.
 */
typedef uint64_t  ft_vector_t __attribute__((vector_size(16)));


static void
ft_put_pair(uint8_t *p, uint64_t a, uint64_t b)
{
    ft_vector_t  pair = { htobe64(a), htobe64(b) };

    memcpy(p, &pair, sizeof(pair));
}


static void
ft_key_pad(SHA256_CTX *sha, const uint8_t *block, uint8_t pad)
{
    size_t   i;
    uint8_t  padded[SHA256_CBLOCK];

    for (i = 0; i < SHA256_CBLOCK; i++) {
        padded[i] = block[i] ^ pad;
    }

    SHA256_Init(sha);
    SHA256_Update(sha, padded, SHA256_CBLOCK);

    OPENSSL_cleanse(padded, sizeof(padded));
}


static void
ft_mac_begin(ft_mac_t *mac, const ft_key_t *key)
{
    memcpy(mac->sha.h, key->inner.h, sizeof(mac->sha.h));
    memset(mac->block, 0, SHA256_CBLOCK);
    mac->len = 0;
}


/* What follows the message in a block is zero. */
static void
ft_mac_block(ft_mac_t *mac)
{
    SHA256_Transform(&mac->sha, mac->block);
    memset(mac->block, 0, SHA256_CBLOCK);
}


static void
ft_mac_add(ft_mac_t *mac, const void *data, size_t len)
{
    size_t          at, n;
    const uint8_t  *p;

    for (p = data; len; p += n, len -= n) {
        at = mac->len % SHA256_CBLOCK;
        n = SHA256_CBLOCK - at < len ? SHA256_CBLOCK - at : len;

        memcpy(mac->block + at, p, n);
        mac->len += n;

        if (at + n == SHA256_CBLOCK) {
            ft_mac_block(mac);
        }
    }
}


/* Two words of a hash as one number. */
static uint64_t
ft_mac_word(const ft_mac_t *mac, unsigned i)
{
    return (uint64_t) mac->sha.h[2 * i] << 32 | mac->sha.h[2 * i + 1];
}


/* Writes the first FT_TICKET_MAC_LEN bytes of the HMAC, as numbers. */
static void
ft_mac_end(ft_mac_t *mac, const ft_key_t *key, uint64_t words[FT_MAC_WORDS])
{
    size_t  at;

    at = mac->len % SHA256_CBLOCK;
    mac->block[at] = 0x80;

    if (at >= FT_LAST_BLOCK_LEN) {
        ft_mac_block(mac);
    }

    ft_put64(mac->block + FT_LAST_BLOCK_LEN, (SHA256_CBLOCK + mac->len) * 8);
    SHA256_Transform(&mac->sha, mac->block);

    ft_put_pair(mac->block, ft_mac_word(mac, 0), ft_mac_word(mac, 1));
    ft_put_pair(mac->block + 16, ft_mac_word(mac, 2), ft_mac_word(mac, 3));
    ft_put_pair(mac->block + SHA256_DIGEST_LENGTH, UINT64_C(1) << 63, 0);
    ft_put_pair(mac->block + SHA256_DIGEST_LENGTH + 16, 0,
                (SHA256_CBLOCK + SHA256_DIGEST_LENGTH) * 8);

    memcpy(mac->sha.h, key->outer.h, sizeof(mac->sha.h));
    SHA256_Transform(&mac->sha, mac->block);

    words[0] = ft_mac_word(mac, 0);
    words[1] = ft_mac_word(mac, 1);
}


static void
ft_key_init(ft_key_t *key, const ft_secret_t *secret)
{
    uint8_t   block[SHA256_CBLOCK];
    ft_mac_t  mac;
    uint64_t  words[FT_MAC_WORDS];

    memset(block, 0, sizeof(block));

    if (secret->len > SHA256_CBLOCK) {
        SHA256(secret->data, secret->len, block);

    } else {
        memcpy(block, secret->data, secret->len);
    }

    ft_key_pad(&key->inner, block, 0x36);
    ft_key_pad(&key->outer, block, 0x5c);

    OPENSSL_cleanse(block, sizeof(block));

    ft_mac_begin(&mac, key);
    ft_mac_add(&mac, FT_KEY_ID_LABEL, sizeof(FT_KEY_ID_LABEL) - 1);
    ft_mac_end(&mac, key, words);

    key->id = (uint8_t) (words[0] >> 56);
}


ft_keyring_t *
ft_keyring_create(const ft_secret_t *secrets, size_t n)
{
    size_t         i;
    ft_keyring_t  *ring;

    if (n == 0 || n > FT_SECRETS_MAX) {
        return NULL;
    }

    ring = calloc(1, sizeof(ft_keyring_t));
    if (ring == NULL) {
        return NULL;
    }

    for ( /* void */ ; ring->n < n; ring->n++) {
        ft_key_init(&ring->keys[ring->n], &secrets[ring->n]);
    }

    memset(ring->digit, FT_NO_DIGIT, sizeof(ring->digit));

    for (i = 0; i < sizeof(ft_base64url) - 1; i++) {
        ring->digit[(uint8_t) ft_base64url[i]] = (uint8_t) i;
    }

    return ring;
}


void
ft_keyring_free(ft_keyring_t *ring)
{
    OPENSSL_cleanse(ring, sizeof(ft_keyring_t));
    free(ring);
}


/*
 * Each part of the context but the last is preceded by its length, so that no
 * two contexts read alike.
 */
static void
ft_ticket_mac(const ft_key_t *key, const ft_ticket_context_t *context,
    const uint64_t body[FT_BODY_WORDS], uint64_t words[FT_MAC_WORDS])
{
    ft_mac_t  mac;

    ft_mac_begin(&mac, key);

    ft_put_pair(mac.block, body[0], body[1]);
    ft_put_pair(mac.block + 16, body[2], body[3]);
    ft_put32(mac.block + FT_TICKET_BODY_LEN,
             (uint32_t) (context->zone_len << 16 | context->key_len));
    mac.len = FT_TICKET_BODY_LEN + 4;

    ft_mac_add(&mac, context->zone, context->zone_len);
    ft_mac_add(&mac, context->key, context->key_len);
    ft_mac_add(&mac, context->bind, context->bind_len);

    ft_mac_end(&mac, key, words);
}


/*
 * Digits are turned into their values, and back, sixteen at a time: a table asked
 * for each of them takes four times as long, and tells a cache what it was asked.
 * A comparison gives all ones where it holds.
 */
typedef signed char  ft_digits_t __attribute__((vector_size(16)));

#define ft_all(n)    (ft_digits_t) { n, n, n, n, n, n, n, n,                  \
                                     n, n, n, n, n, n, n, n }

/* sums wrap around on the way, which only unsigned ones may */
typedef unsigned char  ft_sums_t __attribute__((vector_size(16)));

#define ft_plus(a, b)   (ft_digits_t) ((ft_sums_t) (a) + (ft_sums_t) (b))
#define ft_minus(a, b)  (ft_digits_t) ((ft_sums_t) (a) - (ft_sums_t) (b))


static ft_digits_t
ft_digits(ft_digits_t values)
{
    ft_digits_t  digits;

    digits = ft_plus(values, ft_all('A'));
    digits = ft_plus(digits, (values > ft_all(25)) & ft_all('a' - 'Z' - 1));
    digits = ft_minus(digits, (values > ft_all(51)) & ft_all('z' - '0' + 1));
    digits = ft_plus(digits, (values == ft_all(62)) & ft_all('-' - '9' - 1));

    return ft_plus(digits, (values == ft_all(63)) & ft_all('_' - '9' - 2));
}


/* *bad: not all zero where one is no digit. */
static ft_digits_t
ft_values(ft_digits_t digits, ft_digits_t *bad)
{
    ft_digits_t  upper, lower, number, minus, line;

    upper = (digits >= ft_all('A')) & (digits <= ft_all('Z'));
    lower = (digits >= ft_all('a')) & (digits <= ft_all('z'));
    number = (digits >= ft_all('0')) & (digits <= ft_all('9'));
    minus = (digits == ft_all('-'));
    line = (digits == ft_all('_'));

    *bad |= ~(upper | lower | number | minus | line);

    return (upper & ft_minus(digits, ft_all('A')))
           | (lower & ft_minus(digits, ft_all('a' - 26)))
           | (number & ft_plus(digits, ft_all(52 - '0')))
           | (minus & ft_all(62)) | (line & ft_all(63));
}


/* 48 bits to eight values of six, the first in the highest byte, and back. */
static uint64_t
ft_spread(uint64_t bits)
{
    bits = (bits & 0xffffff) | (bits & UINT64_C(0xffffff000000)) << 8;
    bits = (bits & UINT64_C(0x00000fff00000fff))
           | (bits & UINT64_C(0x00fff00000fff000)) << 4;

    return (bits & UINT64_C(0x003f003f003f003f))
           | (bits & UINT64_C(0x0fc00fc00fc00fc0)) << 2;
}


static uint64_t
ft_gather(uint64_t values)
{
    values = (values & UINT64_C(0x003f003f003f003f))
             | (values & UINT64_C(0x3f003f003f003f00)) >> 2;
    values = (values & UINT64_C(0x00000fff00000fff))
             | (values & UINT64_C(0x0fff00000fff0000)) >> 4;

    return (values & 0xffffff) | (values & UINT64_C(0x00ffffff00000000)) >> 8;
}


/* Eight digits are 48 bits: three numbers are four such groups. */
static void
ft_ticket_encode(const uint64_t words[FT_WORDS], char *text)
{
    size_t           i;
    uint64_t         group[4];
    ft_vector_t        pair;
    ft_digits_t      digits;
    const uint64_t  *w;

    for (w = words; w < words + FT_WORDS; w += 3) {
        group[0] = w[0] >> 16;
        group[1] = (w[0] & 0xffff) << 32 | w[1] >> 32;
        group[2] = (w[1] & UINT32_MAX) << 16 | w[2] >> 48;
        group[3] = w[2] & FT_FIRST_MASK;

        for (i = 0; i < 4; i += 2) {
            pair = (ft_vector_t) { htobe64(ft_spread(group[i])),
                                 htobe64(ft_spread(group[i + 1])) };
            digits = ft_digits((ft_digits_t) pair);

            memcpy(text, &digits, sizeof(digits));
            text += sizeof(digits);
        }
    }
}


static bool
ft_ticket_decode(const char *text, uint64_t words[FT_WORDS])
{
    size_t        i;
    uint64_t      group[4], *w;
    ft_vector_t     pair;
    ft_digits_t   digits, bad;

    bad = ft_all(0);

    for (w = words; w < words + FT_WORDS; w += 3) {

        for (i = 0; i < 4; i += 2) {
            memcpy(&digits, text, sizeof(digits));
            text += sizeof(digits);

            pair = (ft_vector_t) ft_values(digits, &bad);
            group[i] = ft_gather(be64toh(pair[0]));
            group[i + 1] = ft_gather(be64toh(pair[1]));
        }

        w[0] = group[0] << 16 | group[1] >> 32;
        w[1] = group[1] << 32 | group[2] >> 16;
        w[2] = group[2] << 48 | group[3];
    }

    pair = (ft_vector_t) bad;

    return (pair[0] | pair[1]) == 0;
}


void
ft_ticket_sign(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const ft_ticket_t *ticket, char *text)
{
    uint64_t  words[FT_WORDS];

    words[0] = (uint64_t) (FT_TICKET_VERSION << 4 | ticket->kind) << 56
               | (uint64_t) ring->keys[0].id << 48
               | (ticket->first_ms & FT_FIRST_MASK);
    words[1] = (ticket->seen_ms - ticket->first_ms) << 32
               | (uint32_t) (ticket->due_ms - ticket->seen_ms);
    words[2] = (uint64_t) ticket->epoch << 32 | ticket->id >> 32;
    words[3] = ticket->id << 32 | (uint32_t) ticket->place << 24;

    ft_ticket_mac(&ring->keys[0], context, words, words + FT_BODY_WORDS);
    ft_ticket_encode(words, text);
}


/* What the signature vouches for may still be of a later version. */
static bool
ft_ticket_read(const uint64_t words[FT_WORDS], ft_ticket_t *ticket)
{
    if (words[0] >> 60 != FT_TICKET_VERSION) {
        return false;
    }

    switch (words[0] >> 56 & 15) {

    case FT_TICKET_WAIT:
        ticket->kind = FT_TICKET_WAIT;
        break;

    case FT_TICKET_PASS:
        ticket->kind = FT_TICKET_PASS;
        break;

    default:
        return false;
    }

    ticket->first_ms = words[0] & FT_FIRST_MASK;
    ticket->seen_ms = ticket->first_ms + (words[1] >> 32);
    ticket->due_ms = ticket->seen_ms + (words[1] & UINT32_MAX);
    ticket->epoch = (uint32_t) (words[2] >> 32);
    ticket->id = words[2] << 32 | words[3] >> 32;
    ticket->place = (uint8_t) (words[3] >> 24);
    ticket->draw = 0;

    return true;
}


/* Its first three digits are the version, the kind and the key's id. */
bool
ft_ticket_possible(const ft_keyring_t *ring, const char *text, size_t len)
{
    size_t          i;
    uint8_t         first, second, third, id;
    const uint8_t  *p;

    if (len != FT_TICKET_LEN) {
        return false;
    }

    p = (const uint8_t *) text;

    first = ring->digit[p[0]];
    second = ring->digit[p[1]];
    third = ring->digit[p[2]];

    if (((first | second | third) & FT_NO_DIGIT)
        || first >> 2 != FT_TICKET_VERSION)
    {
        return false;
    }

    id = (uint8_t) (second << 4 | third >> 2);

    for (i = 0; i < ring->n; i++) {
        if (ring->keys[i].id == id) {
            return true;
        }
    }

    return false;
}


bool
ft_ticket_verify(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const char *text, size_t len, ft_ticket_t *ticket)
{
    size_t    i;
    uint8_t   id;
    uint64_t  words[FT_WORDS], mac[FT_MAC_WORDS];

    if (len != FT_TICKET_LEN || !ft_ticket_decode(text, words)) {
        return false;
    }

    id = (uint8_t) (words[0] >> 48);

    for (i = 0; i < ring->n; i++) {

        if (ring->keys[i].id != id) {
            continue;
        }

        ft_ticket_mac(&ring->keys[i], context, words, mac);

        /* both words, whatever the first one is */

        if (((mac[0] ^ words[FT_BODY_WORDS])
             | (mac[1] ^ words[FT_BODY_WORDS + 1])) == 0)
        {
            return ft_ticket_read(words, ticket);
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
ft_ticket_draw(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    uint64_t opens_ms, uint64_t id)
{
    uint8_t          head[20];
    ft_mac_t         mac;
    uint64_t         words[FT_MAC_WORDS];
    const ft_key_t  *key;

    key = &ring->keys[ring->n - 1];

    ft_put64(head, opens_ms);
    ft_put64(head + 8, id);
    ft_put32(head + 16,
             (uint32_t) (context->zone_len << 16 | context->key_len));

    ft_mac_begin(&mac, key);
    ft_mac_add(&mac, FT_DRAW_LABEL, sizeof(FT_DRAW_LABEL) - 1);
    ft_mac_add(&mac, head, sizeof(head));
    ft_mac_add(&mac, context->zone, context->zone_len);
    ft_mac_add(&mac, context->key, context->key_len);
    ft_mac_end(&mac, key, words);

    return words[0];
}
