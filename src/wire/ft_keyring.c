
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include "ft_keyring.h"


#define FT_KEYRING_BLOCK_LEN  64    /* of SHA-256 */
#define FT_KEYRING_ID_LABEL   "flash_throttle key id"


typedef struct {
    EVP_MD_CTX       *inner;        /* after the block of key ^ ipad */
    EVP_MD_CTX       *outer;        /* after the block of key ^ opad */
    uint8_t           id;
} ft_keyring_key_t;


struct ft_keyring_s {
    size_t            n;
    EVP_MD_CTX       *message;
    ft_keyring_key_t  keys[FT_SECRETS_MAX];
};


static EVP_MD_CTX *
ft_keyring_pad(const uint8_t *block, uint8_t pad)
{
    size_t       i;
    uint8_t      padded[FT_KEYRING_BLOCK_LEN];
    EVP_MD_CTX  *ctx;

    for (i = 0; i < FT_KEYRING_BLOCK_LEN; i++) {
        padded[i] = block[i] ^ pad;
    }

    ctx = EVP_MD_CTX_new();

    if (ctx && (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1
                || EVP_DigestUpdate(ctx, padded, sizeof(padded)) != 1))
    {
        EVP_MD_CTX_free(ctx);
        ctx = NULL;
    }

    OPENSSL_cleanse(padded, sizeof(padded));

    return ctx;
}


static bool
ft_keyring_add(ft_keyring_t *ring, const ft_secret_t *secret)
{
    bool               ok;
    uint8_t            block[FT_KEYRING_BLOCK_LEN], mac[FT_KEYRING_MAC_LEN];
    ft_keyring_key_t  *key;

    const ft_secret_t  label = { FT_KEYRING_ID_LABEL,
                                 sizeof(FT_KEYRING_ID_LABEL) - 1 };

    memset(block, 0, sizeof(block));

    if (secret->len <= sizeof(block)) {
        memcpy(block, secret->data, secret->len);

    } else if (EVP_Digest(secret->data, secret->len, block, NULL, EVP_sha256(),
                          NULL)
               != 1)
    {
        return false;
    }

    key = &ring->keys[ring->n++];

    key->inner = ft_keyring_pad(block, 0x36);
    key->outer = ft_keyring_pad(block, 0x5c);

    OPENSSL_cleanse(block, sizeof(block));

    ok = key->inner && key->outer
         && ft_keyring_mac(ring, ring->n - 1, &label, 1, mac);

    if (ok) {
        key->id = mac[0];
    }

    return ok;
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

    ring->message = EVP_MD_CTX_new();

    if (ring->message == NULL) {
        ft_keyring_free(ring);
        return NULL;
    }

    for (i = 0; i < n; i++) {

        if (!ft_keyring_add(ring, &secrets[i])) {
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

    for (i = 0; i < ring->n; i++) {
        EVP_MD_CTX_free(ring->keys[i].inner);
        EVP_MD_CTX_free(ring->keys[i].outer);
    }

    EVP_MD_CTX_free(ring->message);
    free(ring);
}


size_t
ft_keyring_size(const ft_keyring_t *ring)
{
    return ring->n;
}


uint8_t
ft_keyring_id(const ft_keyring_t *ring, size_t i)
{
    return ring->keys[i].id;
}


bool
ft_keyring_mac(const ft_keyring_t *ring, size_t i, const ft_secret_t *parts,
    size_t n, uint8_t mac[FT_KEYRING_MAC_LEN])
{
    size_t       k;
    EVP_MD_CTX  *ctx;

    ctx = ring->message;

    if (EVP_MD_CTX_copy_ex(ctx, ring->keys[i].inner) != 1) {
        return false;
    }

    for (k = 0; k < n; k++) {
        if (EVP_DigestUpdate(ctx, parts[k].data, parts[k].len) != 1) {
            return false;
        }
    }

    return EVP_DigestFinal_ex(ctx, mac, NULL) == 1
           && EVP_MD_CTX_copy_ex(ctx, ring->keys[i].outer) == 1
           && EVP_DigestUpdate(ctx, mac, FT_KEYRING_MAC_LEN) == 1
           && EVP_DigestFinal_ex(ctx, mac, NULL) == 1;
}
