
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

#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include "ft_ticket.h"


#define FT_TICKET_VERSION  1
#define FT_SHA256_BLOCK    64
#define FT_SHA256_LEN      32
#define FT_KEY_ID_LABEL    "flash_throttle key id"


typedef struct {
    EVP_MD_CTX       *inner;        /* after the block of key ^ ipad */
    EVP_MD_CTX       *outer;        /* after the block of key ^ opad */
    uint8_t           id;
} ft_key_t;


struct ft_keyring_s {
    ft_key_t          keys[FT_SECRETS_MAX];
    size_t            n;
    EVP_MD_CTX       *work;
};


static const char  ft_base64url[64] __attribute__((nonstring)) =
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


/* HMAC (RFC 2104) as far as the pads: hashed once, copied for each message. */
static EVP_MD_CTX *
ft_key_pad(const uint8_t *block, uint8_t pad)
{
    size_t       i;
    uint8_t      padded[FT_SHA256_BLOCK];
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        return NULL;
    }

    for (i = 0; i < FT_SHA256_BLOCK; i++) {
        padded[i] = block[i] ^ pad;
    }

    if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1
        || EVP_DigestUpdate(ctx, padded, FT_SHA256_BLOCK) != 1)
    {
        EVP_MD_CTX_free(ctx);
        ctx = NULL;
    }

    OPENSSL_cleanse(padded, sizeof(padded));

    return ctx;
}


static bool
ft_hmac_begin(ft_keyring_t *ring, const ft_key_t *key)
{
    return EVP_MD_CTX_copy_ex(ring->work, key->inner) == 1;
}


static bool
ft_hmac_end(ft_keyring_t *ring, const ft_key_t *key, uint8_t *mac)
{
    return EVP_DigestFinal_ex(ring->work, mac, NULL) == 1
           && EVP_MD_CTX_copy_ex(ring->work, key->outer) == 1
           && EVP_DigestUpdate(ring->work, mac, FT_SHA256_LEN) == 1
           && EVP_DigestFinal_ex(ring->work, mac, NULL) == 1;
}


static bool
ft_key_init(ft_keyring_t *ring, ft_key_t *key, const ft_secret_t *secret)
{
    bool     ok;
    uint8_t  block[FT_SHA256_BLOCK], mac[FT_SHA256_LEN];

    memset(block, 0, sizeof(block));

    if (secret->len > FT_SHA256_BLOCK) {
        ok = EVP_Digest(secret->data, secret->len, block, NULL, EVP_sha256(),
                        NULL) == 1;

    } else {
        memcpy(block, secret->data, secret->len);
        ok = true;
    }

    if (ok) {
        key->inner = ft_key_pad(block, 0x36);
        key->outer = ft_key_pad(block, 0x5c);

        ok = key->inner && key->outer && ft_hmac_begin(ring, key)
             && EVP_DigestUpdate(ring->work, FT_KEY_ID_LABEL,
                                 sizeof(FT_KEY_ID_LABEL) - 1) == 1
             && ft_hmac_end(ring, key, mac);
    }

    if (ok) {
        key->id = mac[0];
    }

    OPENSSL_cleanse(block, sizeof(block));

    return ok;
}


ft_keyring_t *
ft_keyring_create(const ft_secret_t *secrets, size_t n)
{
    ft_keyring_t  *ring;

    if (n == 0 || n > FT_SECRETS_MAX) {
        return NULL;
    }

    ring = calloc(1, sizeof(ft_keyring_t));
    if (ring == NULL) {
        return NULL;
    }

    ring->work = EVP_MD_CTX_new();

    if (ring->work == NULL) {
        ft_keyring_free(ring);
        return NULL;
    }

    for ( /* void */ ; ring->n < n; ring->n++) {
        if (!ft_key_init(ring, &ring->keys[ring->n], &secrets[ring->n])) {
            ring->n++;
            ft_keyring_free(ring);
            return NULL;
        }
    }

    return ring;
}


void
ft_keyring_free(ft_keyring_t *ring)
{
    size_t  i;

    /* EVP_MD_CTX_free() wipes the hash state that the secret went into */

    for (i = 0; i < ring->n; i++) {
        EVP_MD_CTX_free(ring->keys[i].inner);
        EVP_MD_CTX_free(ring->keys[i].outer);
    }

    EVP_MD_CTX_free(ring->work);
    free(ring);
}


/* Each part is preceded by its length, so that no two contexts read alike. */
static bool
ft_mac_part(EVP_MD_CTX *ctx, const void *data, size_t len)
{
    uint8_t  head[4];

    ft_put(head, len, sizeof(head));

    return EVP_DigestUpdate(ctx, head, sizeof(head)) == 1
           && EVP_DigestUpdate(ctx, data, len) == 1;
}


static bool
ft_ticket_mac(ft_keyring_t *ring, const ft_key_t *key,
    const ft_ticket_context_t *context, const uint8_t *body, uint8_t *mac)
{
    return ft_hmac_begin(ring, key)
           && EVP_DigestUpdate(ring->work, body, FT_TICKET_BODY_LEN) == 1
           && ft_mac_part(ring->work, context->zone, context->zone_len)
           && ft_mac_part(ring->work, context->key, context->key_len)
           && ft_mac_part(ring->work, context->bind, context->bind_len)
           && ft_hmac_end(ring, key, mac);
}


static void
ft_ticket_encode(const uint8_t *raw, char *text)
{
    size_t    i;
    uint32_t  n;

    for (i = 0; i < FT_TICKET_LEN / 4; i++) {
        n = (uint32_t) ft_get(raw + 3 * i, 3);

        *text++ = ft_base64url[n >> 18];
        *text++ = ft_base64url[n >> 12 & 63];
        *text++ = ft_base64url[n >> 6 & 63];
        *text++ = ft_base64url[n & 63];
    }
}


static int
ft_base64url_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }

    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }

    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }

    return c == '-' ? 62 : c == '_' ? 63 : -1;
}


static bool
ft_ticket_decode(const char *text, uint8_t *raw)
{
    int       v;
    size_t    i, j;
    uint32_t  n;

    for (i = 0; i < FT_TICKET_LEN / 4; i++) {
        n = 0;

        for (j = 0; j < 4; j++) {
            v = ft_base64url_value((uint8_t) text[4 * i + j]);

            if (v < 0) {
                return false;
            }

            n = n << 6 | (uint32_t) v;
        }

        ft_put(raw + 3 * i, n, 3);
    }

    return true;
}


bool
ft_ticket_sign(ft_keyring_t *ring, const ft_ticket_context_t *context,
    const ft_ticket_t *ticket, char *text)
{
    uint8_t  raw[FT_TICKET_BODY_LEN + FT_SHA256_LEN];

    memset(raw, 0, FT_TICKET_BODY_LEN);

    raw[0] = (uint8_t) (FT_TICKET_VERSION << 4 | ticket->kind);
    raw[1] = ring->keys[0].id;
    ft_put(raw + 2, ticket->first_ms, 6);
    ft_put(raw + 8, ticket->seen_ms - ticket->first_ms, 4);
    ft_put(raw + 12, ticket->due_ms - ticket->seen_ms, 4);
    ft_put(raw + 16, ticket->epoch, 4);
    ft_put(raw + 20, ticket->id, 8);
    raw[28] = ticket->place;

    if (!ft_ticket_mac(ring, &ring->keys[0], context, raw,
                       raw + FT_TICKET_BODY_LEN))
    {
        return false;
    }

    ft_ticket_encode(raw, text);

    return true;
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
ft_ticket_verify(ft_keyring_t *ring, const ft_ticket_context_t *context,
    const char *text, size_t len, ft_ticket_t *ticket)
{
    size_t   i;
    uint8_t  raw[FT_TICKET_BODY_LEN + FT_TICKET_MAC_LEN], mac[FT_SHA256_LEN];

    if (len != FT_TICKET_LEN || !ft_ticket_decode(text, raw)) {
        return false;
    }

    for (i = 0; i < ring->n; i++) {

        if (ring->keys[i].id == raw[1]
            && ft_ticket_mac(ring, &ring->keys[i], context, raw, mac)
            && CRYPTO_memcmp(mac, raw + FT_TICKET_BODY_LEN, FT_TICKET_MAC_LEN)
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
