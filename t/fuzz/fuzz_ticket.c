
/*
 * Tickets: no text is taken that was not signed, whatever it is; what was
 * signed comes back, and not with one character changed.
 *
 * Input: a byte whose low bit chooses between a text as a client might send it,
 * and a ticket's fields; then that.
 */

#include "fuzz.h"
#include "ft_ticket.h"


#define SECRET  "what no input knows"


static ft_keyring_t *
fuzz_ring(void)
{
    ft_secret_t           secrets[2] = {
        { SECRET, sizeof(SECRET) - 1 }, { "an older secret", 15 }
    };
    static ft_keyring_t  *ring;

    if (ring == NULL) {
        ring = ft_keyring_create(secrets, 2);
        fuzz_check(ring != NULL);
    }

    return ring;
}


static void
fuzz_text(const uint8_t *data, size_t size)
{
    char                       *text;
    ft_ticket_t                 ticket;
    const ft_ticket_context_t   context = { "sale", 4, "key", 3, "", 0 };

    text = fuzz_copy(data, size);
    fuzz_check(!ft_ticket_verify(fuzz_ring(), &context, text, size, &ticket));
    free(text);
}


/* Fields of the input; a ticket that any caller could make. */
static void
fuzz_fields(const uint8_t *data, ft_ticket_t *ticket)
{
    uint64_t  first;
    uint32_t  seen, due;

    memcpy(&ticket->id, data, 8);
    memcpy(&first, data + 8, 8);
    memcpy(&seen, data + 16, 4);
    memcpy(&due, data + 20, 4);
    memcpy(&ticket->generation, data + 24, 4);

    ticket->first_ms = first >> 16;
    ticket->seen_ms = ticket->first_ms + seen;
    ticket->due_ms = ticket->seen_ms + due;
    ticket->place = data[28];
    ticket->kind = data[29] & 1 ? FT_TICKET_WAIT : FT_TICKET_PASS;
}


static bool
fuzz_same(const ft_ticket_t *a, const ft_ticket_t *b)
{
    return a->id == b->id && a->first_ms == b->first_ms
           && a->seen_ms == b->seen_ms && a->due_ms == b->due_ms
           && a->generation == b->generation && a->kind == b->kind
           && a->place == b->place;
}


/* The rest of the input is the context, cut in three at two places. */
static void
fuzz_signed(const uint8_t *data, size_t size)
{
    char                 *rest, text[FT_TICKET_LEN];
    size_t                zone_len, key_len;
    ft_ticket_t           ticket, back;
    ft_ticket_context_t   context;

    fuzz_fields(data, &ticket);
    zone_len = data[30];
    key_len = data[31];
    data += 32;
    size -= 32;

    zone_len = zone_len < size ? zone_len : size;
    key_len = key_len < size - zone_len ? key_len : size - zone_len;

    rest = fuzz_copy(data, size);

    context.zone = rest;
    context.zone_len = zone_len;
    context.key = rest + zone_len;
    context.key_len = key_len;
    context.bind = rest + zone_len + key_len;
    context.bind_len = size - zone_len - key_len;

    ft_ticket_sign(fuzz_ring(), &context, &ticket, text);

    fuzz_check(ft_ticket_verify(fuzz_ring(), &context, text, FT_TICKET_LEN,
                                &back));
    fuzz_check(fuzz_same(&ticket, &back));
    (void) ft_ticket_usable(&back, ticket.first_ms);

    text[ticket.id % FT_TICKET_LEN] ^= (char) (1 + ticket.place % 127);
    fuzz_check(!ft_ticket_verify(fuzz_ring(), &context, text, FT_TICKET_LEN,
                                 &back));

    free(rest);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] & 1) {
        fuzz_text(data + 1, size - 1);

    } else if (size > 32) {
        fuzz_signed(data + 1, size - 1);
    }

    return 0;
}
