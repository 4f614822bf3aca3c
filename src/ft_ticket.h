
/*
 * The signed ticket and the signed pass: a shopper's place in line, kept by
 * the shopper.  A ticket says when its holder first tried, when it was last
 * seen and when it is due; a pass says when it was given and when it ends.
 *
 * Text form: base64url (RFC 4648, no padding) of a 32-byte body and the first
 * 16 bytes of HMAC-SHA256 over the body and the context (zone, key, bind).
 */

#ifndef FT_TICKET_H_INCLUDED
#define FT_TICKET_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_TICKET_BODY_LEN  32
#define FT_TICKET_MAC_LEN   16
#define FT_TICKET_LEN       64      /* characters of the text form */

#define FT_SECRETS_MAX      8
#define FT_SECRET_MIN_LEN   16

#define FT_TICKET_AGE_MAX_MS  86400000  /* a ticket outlives any queue: a day */
#define FT_TICKET_SKEW_MS     5000      /* a stamp this far ahead still counts */


typedef enum {
    FT_TICKET_WAIT = 1,
    FT_TICKET_PASS = 2
} ft_ticket_kind_t;


typedef struct {
    uint64_t          id;           /* random, kept from first attempt to the
                                       end of the pass */
    uint64_t          first_ms;     /* the stamp, epoch ms */
    uint64_t          seen_ms;      /* last answered; pass: admitted */
    uint64_t          due_ms;       /* falls out of the census; pass: expires */
    uint32_t          epoch;        /* the state that counted it, 0: none */
    ft_ticket_kind_t  kind;
    uint8_t           place;        /* where it was counted, see ft_census.h */
    uint64_t          draw;         /* by ft_ticket_draw(); not in the text */
} ft_ticket_t;


/* The context that a ticket is bound to.  Bytes, not terminated; zone and key
   shorter than 65,536. */
typedef struct {
    const void       *zone;
    size_t            zone_len;
    const void       *key;
    size_t            key_len;
    const void       *bind;
    size_t            bind_len;
} ft_ticket_context_t;


typedef struct ft_keyring_s  ft_keyring_t;


/*
 * A key ring: secrets[0] signs, all verify.  Precomputes the HMAC pads.
 * NULL: no memory, or n is not 1 .. FT_SECRETS_MAX.  Free with ft_keyring_free(),
 * which wipes the pads.
 */
typedef struct {
    const void       *data;
    size_t            len;
} ft_secret_t;

ft_keyring_t *ft_keyring_create(const ft_secret_t *secrets, size_t n);
void ft_keyring_free(ft_keyring_t *ring);

/* Writes the FT_TICKET_LEN characters of the signed text, no terminator. */
void ft_ticket_sign(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, const ft_ticket_t *ticket, char *text);

/*
 * Reads a text form.  False for anything that is not exactly what
 * ft_ticket_sign() wrote for this context under one of the ring's secrets:
 * malformed, forged, truncated, foreign, or of an unknown secret.  Constant
 * time in the signature.  Ages are the caller's to judge (ft_ticket_usable).
 */
bool ft_ticket_verify(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, const char *text, size_t len,
    ft_ticket_t *ticket);

/*
 * Whether a text may be a ticket at all, before its signature is looked into:
 * of the right length, of this version, by one of the ring's secrets.  One that
 * is not is nothing for ft_ticket_verify() either.
 */
bool ft_ticket_possible(const ft_keyring_t *ring, const char *text, size_t len);

/*
 * Whether a verified ticket may be used at now_ms: the stamp is not older than
 * a day and not further ahead than a small skew; a pass has not expired.
 */
bool ft_ticket_usable(const ft_ticket_t *ticket, uint64_t now_ms);

/*
 * Whether a verified ticket that is too old is usable all the same: it waits for
 * an opening, or has done so and is not older than a day since.
 */
bool ft_ticket_awaits(const ft_ticket_t *ticket, uint64_t opens_ms,
    uint64_t now_ms);

/*
 * The lot of a ticket for an opening, uniform over all 64-bit numbers: the first
 * 8 bytes of HMAC-SHA256, under the ring's last secret, which a new first one
 * does not change, over
 *
 *   "flash_throttle draw", opens_ms (8 bytes), id (8 bytes), the lengths of
 *   zone and key (2 bytes each), zone, key; numbers big-endian
 *
 * so that it can be computed from a log, and that of another opening says
 * nothing about it.  bind has no part in it.
 */
uint64_t ft_ticket_draw(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, uint64_t opens_ms, uint64_t id);

/* A lot as a number below n. */
static inline uint64_t
ft_draw_scale(uint64_t draw, uint32_t n)
{
    return ((draw >> 32) * n) >> 32;
}

#pragma GCC visibility pop


#endif /* FT_TICKET_H_INCLUDED */
