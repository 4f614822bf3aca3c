
/*
 * The signed ticket and the signed pass: a shopper's place in line, kept by the
 * shopper.  A ticket tells when its holder first tried, when it was answered last
 * and when it is due; a pass tells when it was given and when it ends.
 *
 * The text is base64url (RFC 4648, without padding) of a 32-byte body and the
 * first 16 bytes of HMAC-SHA256 over the body and the context: zone, key, and
 * the value of flash_throttle_bind.
 */

#ifndef FT_TICKET_H_INCLUDED
#define FT_TICKET_H_INCLUDED


#include "ft_keyring.h"

#pragma GCC visibility push(hidden)


#define FT_TICKET_BODY_LEN  32
#define FT_TICKET_MAC_LEN   16
#define FT_TICKET_LEN       64      /* characters of the text */

#define FT_TICKET_AGE_MAX_MS  86400000  /* lifetime of a ticket: a day */
#define FT_TICKET_SKEW_MS     5000      /* a timestamp this far ahead counts */


typedef enum {
    FT_TICKET_WAIT = 1,
    FT_TICKET_PASS = 2
} ft_ticket_kind_t;


typedef struct {
    uint64_t          id;           /* random; also the id of the pass */
    uint64_t          first_ms;     /* the timestamp, epoch ms */
    uint64_t          seen_ms;      /* last answered; pass: admitted */
    uint64_t          due_ms;       /* expires in the census; pass: ends */
    uint32_t          generation;   /* of the state that counted it, 0: none */
    ft_ticket_kind_t  kind;
    uint8_t           place;        /* of its count, see ft_census.h */
    uint64_t          shuffle;      /* ft_ticket_shuffle(); not in the text */
} ft_ticket_t;


/* Bytes that a ticket is bound to; zone and key shorter than 65,536. */
typedef struct {
    const void       *zone;
    size_t            zone_len;
    const void       *key;
    size_t            key_len;
    const void       *bind;
    size_t            bind_len;
} ft_ticket_context_t;


/* Writes FT_TICKET_LEN characters, no terminator.  False: no memory. */
bool ft_ticket_sign(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, const ft_ticket_t *ticket, char *text);

/*
 * Reads a text.  False unless ft_ticket_sign() wrote it for this context under
 * one of the secrets.  The comparison takes constant time.  Whether the ticket
 * is too old is for ft_ticket_usable() to tell.
 */
bool ft_ticket_verify(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, const char *text, size_t len,
    ft_ticket_t *ticket);

/* A cheap test before ft_ticket_verify(): length, version and key id. */
bool ft_ticket_possible(const ft_keyring_t *ring, const char *text, size_t len);

/*
 * Whether a verified ticket is usable: the timestamp is not older than a day and
 * not further ahead than FT_TICKET_SKEW_MS; a pass has not ended.
 */
bool ft_ticket_usable(const ft_ticket_t *ticket, uint64_t now_ms);

/* Whether a ticket older than that is usable because it waits for an opening, or
   did so within the last day. */
bool ft_ticket_awaits(const ft_ticket_t *ticket, uint64_t opens_ms,
    uint64_t now_ms);

/*
 * The place of a ticket in the shuffle of an opening, uniform over all 64-bit
 * numbers: the first 8 bytes of HMAC-SHA256 under the last secret, which a new
 * first secret does not change, over
 *
 *   "flash_throttle draw", opens_ms (8 bytes), id (8 bytes), the lengths of
 *   zone and key (2 bytes each), zone, key; numbers big-endian
 *
 * It can be computed from a log, and says nothing about other openings.  bind is
 * not included.  0: no memory.
 */
uint64_t ft_ticket_shuffle(const ft_keyring_t *ring,
    const ft_ticket_context_t *context, uint64_t opens_ms, uint64_t id);

/* A shuffled place as a number below n. */
static inline uint64_t
ft_ticket_scale(uint64_t shuffle, uint32_t n)
{
    return ((shuffle >> 32) * n) >> 32;
}

#pragma GCC visibility pop


#endif /* FT_TICKET_H_INCLUDED */
