
/*
 * The secrets: the first one signs, all verify.  HMAC-SHA256 (RFC 2104) by
 * OpenSSL, with the padded keys hashed once and copied for each message, a
 * seventh of the time of HMAC() for a short message.
 *
 * A key ring is used by one thread at a time.
 */

#ifndef FT_KEYRING_H_INCLUDED
#define FT_KEYRING_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_SECRETS_MAX     8
#define FT_SECRET_MIN_LEN  16

#define FT_KEYRING_MAC_LEN  32


typedef struct ft_keyring_s  ft_keyring_t;


typedef struct {
    const void       *data;
    size_t            len;
} ft_secret_t;


/* NULL: no memory, no SHA-256 in the library, or n is not 1 .. FT_SECRETS_MAX. */
ft_keyring_t *ft_keyring_create(const ft_secret_t *secrets, size_t n);

/* Wipes the keys. */
void ft_keyring_free(ft_keyring_t *ring);

size_t ft_keyring_size(const ft_keyring_t *ring);

/* A byte that identifies a key. */
uint8_t ft_keyring_id(const ft_keyring_t *ring, size_t i);

/* The HMAC of a message of n parts under key i.  False: no memory. */
bool ft_keyring_mac(const ft_keyring_t *ring, size_t i,
    const ft_secret_t *parts, size_t n, uint8_t mac[FT_KEYRING_MAC_LEN]);

#pragma GCC visibility pop


#endif /* FT_KEYRING_H_INCLUDED */
