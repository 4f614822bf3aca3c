
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
 * The SHA-256 calls of OpenSSL 1.1: a copy of EVP_MD_CTX costs 94 ns, a whole
 * HMAC 340 that way and 160 this way, and two are made for each poll.
 */
#define OPENSSL_API_COMPAT  0x10100000L

#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include "ft_ticket.h"


#define FT_TICKET_VERSION  1
#define FT_KEY_ID_LABEL    "flash_throttle key id"
#define FT_NO_DIGIT        0x40


/* HMAC (RFC 2104) as far as the pads: hashed once, copied for each message. */
typedef struct {
    SHA256_CTX        inner;        /* after the block of key ^ ipad */
    SHA256_CTX        outer;        /* after the block of key ^ opad */
    uint8_t           id;
} ft_key_t;


struct ft_keyring_s {
    size_t            n;
    ft_key_t          keys[FT_SECRETS_MAX];
    uint8_t           digit[256];   /* base64url digits' values */
};


static const char  ft_base64url[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";


static void
ft_put(uint8_t *p, uint64_t value, unsigned len)
{
    while (len--) {
        p[len] = (uint8_t) value;
        value >>= 8;
    }
}


static uint64_t
ft_get(const uint8_t *p, unsigned len)
{
    uint64_t  value;

    value = 0;

    while (len--) {
        value = value << 8 | *p++;
    }

    return value;
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
ft_hmac_end(const ft_key_t *key, SHA256_CTX *sha, uint8_t *mac)
{
    SHA256_Final(mac, sha);

    *sha = key->outer;
    SHA256_Update(sha, mac, SHA256_DIGEST_LENGTH);
    SHA256_Final(mac, sha);
}


static void
ft_key_init(ft_key_t *key, const ft_secret_t *secret)
{
    uint8_t     block[SHA256_CBLOCK], mac[SHA256_DIGEST_LENGTH];
    SHA256_CTX  sha;

    memset(block, 0, sizeof(block));

    if (secret->len > SHA256_CBLOCK) {
        SHA256(secret->data, secret->len, block);

    } else {
        memcpy(block, secret->data, secret->len);
    }

    ft_key_pad(&key->inner, block, 0x36);
    ft_key_pad(&key->outer, block, 0x5c);

    OPENSSL_cleanse(block, sizeof(block));

    sha = key->inner;
    SHA256_Update(&sha, FT_KEY_ID_LABEL, sizeof(FT_KEY_ID_LABEL) - 1);
    ft_hmac_end(key, &sha, mac);

    key->id = mac[0];
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
 * two contexts read alike.  What fits with the body into one block of SHA-256
 * is hashed in one go.
 */
static void
ft_ticket_mac(const ft_key_t *key, const ft_ticket_context_t *context,
    const uint8_t *body, uint8_t *mac)
{
    uint8_t     text[SHA256_CBLOCK], *p;
    SHA256_CTX  sha;

    p = text;
    sha = key->inner;

    memcpy(p, body, FT_TICKET_BODY_LEN);
    p += FT_TICKET_BODY_LEN;

    ft_put(p, context->zone_len, 2);
    ft_put(p + 2, context->key_len, 2);
    p += 4;

    if (context->zone_len + context->key_len + context->bind_len
        <= sizeof(text) - FT_TICKET_BODY_LEN - 4)
    {
        memcpy(p, context->zone, context->zone_len);
        p += context->zone_len;

        memcpy(p, context->key, context->key_len);
        p += context->key_len;

        memcpy(p, context->bind, context->bind_len);
        p += context->bind_len;

        SHA256_Update(&sha, text, (size_t) (p - text));

    } else {
        SHA256_Update(&sha, text, (size_t) (p - text));
        SHA256_Update(&sha, context->zone, context->zone_len);
        SHA256_Update(&sha, context->key, context->key_len);
        SHA256_Update(&sha, context->bind, context->bind_len);
    }

    ft_hmac_end(key, &sha, mac);
}


static void
ft_ticket_encode(const uint8_t *raw, char *text)
{
    size_t  i;

    for (i = 0; i < FT_TICKET_LEN / 4; i++, raw += 3) {
        *text++ = ft_base64url[raw[0] >> 2];
        *text++ = ft_base64url[(raw[0] << 4 | raw[1] >> 4) & 63];
        *text++ = ft_base64url[(raw[1] << 2 | raw[2] >> 6) & 63];
        *text++ = ft_base64url[raw[2] & 63];
    }
}


static bool
ft_ticket_decode(const ft_keyring_t *ring, const char *text, uint8_t *raw)
{
    size_t          i;
    uint32_t        bad, v[4];
    const uint8_t  *p;

    bad = 0;
    p = (const uint8_t *) text;

    for (i = 0; i < FT_TICKET_LEN / 4; i++, p += 4) {
        v[0] = ring->digit[p[0]];
        v[1] = ring->digit[p[1]];
        v[2] = ring->digit[p[2]];
        v[3] = ring->digit[p[3]];

        bad |= v[0] | v[1] | v[2] | v[3];

        *raw++ = (uint8_t) (v[0] << 2 | v[1] >> 4);
        *raw++ = (uint8_t) (v[1] << 4 | v[2] >> 2);
        *raw++ = (uint8_t) (v[2] << 6 | v[3]);
    }

    return (bad & FT_NO_DIGIT) == 0;
}


void
ft_ticket_sign(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const ft_ticket_t *ticket, char *text)
{
    uint8_t  raw[FT_TICKET_BODY_LEN + SHA256_DIGEST_LENGTH];

    memset(raw, 0, FT_TICKET_BODY_LEN);

    raw[0] = (uint8_t) (FT_TICKET_VERSION << 4 | ticket->kind);
    raw[1] = ring->keys[0].id;
    ft_put(raw + 2, ticket->first_ms, 6);
    ft_put(raw + 8, ticket->seen_ms - ticket->first_ms, 4);
    ft_put(raw + 12, ticket->due_ms - ticket->seen_ms, 4);
    ft_put(raw + 16, ticket->epoch, 4);
    ft_put(raw + 20, ticket->id, 8);
    raw[28] = ticket->place;

    ft_ticket_mac(&ring->keys[0], context, raw, raw + FT_TICKET_BODY_LEN);
    ft_ticket_encode(raw, text);
}


/* What the signature vouches for may still be of a later version. */
static bool
ft_ticket_read(const uint8_t *raw, ft_ticket_t *ticket)
{
    if (raw[0] >> 4 != FT_TICKET_VERSION) {
        return false;
    }

    switch (raw[0] & 15) {

    case FT_TICKET_WAIT:
        ticket->kind = FT_TICKET_WAIT;
        break;

    case FT_TICKET_PASS:
        ticket->kind = FT_TICKET_PASS;
        break;

    default:
        return false;
    }

    ticket->first_ms = ft_get(raw + 2, 6);
    ticket->seen_ms = ticket->first_ms + ft_get(raw + 8, 4);
    ticket->due_ms = ticket->seen_ms + ft_get(raw + 12, 4);
    ticket->epoch = (uint32_t) ft_get(raw + 16, 4);
    ticket->id = ft_get(raw + 20, 8);
    ticket->place = raw[28];

    return true;
}


bool
ft_ticket_verify(const ft_keyring_t *ring, const ft_ticket_context_t *context,
    const char *text, size_t len, ft_ticket_t *ticket)
{
    size_t   i;
    uint8_t  raw[FT_TICKET_BODY_LEN + FT_TICKET_MAC_LEN], mac[SHA256_DIGEST_LENGTH];

    if (len != FT_TICKET_LEN || !ft_ticket_decode(ring, text, raw)) {
        return false;
    }

    for (i = 0; i < ring->n; i++) {

        if (ring->keys[i].id != raw[1]) {
            continue;
        }

        ft_ticket_mac(&ring->keys[i], context, raw, mac);

        if (CRYPTO_memcmp(mac, raw + FT_TICKET_BODY_LEN, FT_TICKET_MAC_LEN)
            == 0)
        {
            return ft_ticket_read(raw, ticket);
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
        return ticket->due_ms > now_ms;
    }

    return ticket->first_ms + FT_TICKET_AGE_MAX_MS > now_ms;
}
