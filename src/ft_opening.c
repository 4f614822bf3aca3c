
/*
 * The opening: see ft_opening.h.
 */

#include "ft_control.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_pass.h"
#include "ft_word.h"


#define FT_COUNT_MIN_MS     500     /* whoever is new comes back within */
#define FT_COUNT_MAX_MS     2000
#define FT_GATHER_A_MS      4       /* shoppers who come back in a ms */
#define FT_GATHER_MIN_MS    500     /* after the opening all are back within */
#define FT_GATHER_MAX_MS    5000
#define FT_BEAT_MS          1000    /* a sign of life is written so often */

#define FT_PLACE_MASK       15      /* what ft_census_count() makes of a place */
#define FT_LANE_MASK        7
#define FT_TURN_SHIFT       4
#define FT_TURN_MASK        15


static uint64_t
ft_opening_earlier(uint64_t opens_ms, uint64_t opened_ms)
{
    return opened_ms && opened_ms < opens_ms ? opened_ms : opens_ms;
}


bool
ft_opening_is_closed(const ft_call_t *call)
{
    uint64_t  ordered;

    ordered = ft_load(&call->state->orders.opens_ms);

    return call->now_ms < ft_opening_earlier(call->rules->opens_ms, ordered);
}


/*
 * When it opens where this call is from: as configured, or when the operator
 * opened it before that, even if the order has been taken back since.
 */
static uint64_t
ft_opening_at_ms(const ft_call_t *call)
{
    uint64_t  opened;

    opened = ft_load(&call->state->orders.opens_ms);

    if (opened == 0 && call->now_ms >= call->rules->opens_ms) {
        opened = ft_load(&call->state->opening.opened_ms);
    }

    return ft_opening_earlier(call->rules->opens_ms, opened);
}


bool
ft_opening_waits(const ft_call_t *call)
{
    return call->now_ms < ft_load(&call->state->opening.opens_ms)
           && ft_load(&call->state->orders.opens_ms) == 0;
}


uint64_t
ft_opening_next_ms(const ft_call_t *call)
{
    if (ft_opening_waits(call)) {
        return ft_load(&call->state->opening.opens_ms);
    }

    return ft_opening_is_closed(call) ? call->rules->opens_ms : 0;
}


/*
 * All come back within this time after the opening, as many a second as an edge
 * can answer without haste, whatever places they drew.
 */
static uint64_t
ft_opening_gather_ms(const ft_call_t *call)
{
    uint64_t            n;
    const ft_census_t  *census;

    census = &call->state->census;
    n = ((uint64_t) ft_census_waiting(census) + ft_census_fresh(census))
        / FT_GATHER_A_MS;

    return n < FT_GATHER_MIN_MS ? FT_GATHER_MIN_MS
           : n > FT_GATHER_MAX_MS ? FT_GATHER_MAX_MS : n;
}


bool
ft_opening_gathers(const ft_call_t *call)
{
    return call->now_ms < ft_load(&call->state->opening.gathered_ms);
}


/* Opened early, the line is ahead of the clock: nobody's place has changed. */
static uint64_t
ft_opening_ahead_ms(const ft_call_t *call)
{
    uint64_t  opens, opened;

    opens = ft_load(&call->state->opening.opens_ms);
    opened = ft_load(&call->state->opening.opened_ms);

    return opened && opened < opens ? opens - opened : 0;
}


static bool
ft_opening_was_before(const ft_call_t *call, const ft_ticket_t *ticket)
{
    return call->rules->opens_ms && ticket->first_ms < ft_opening_at_ms(call);
}


static uint64_t
ft_opening_begin_us(const ft_call_t *call)
{
    return (call->rules->opens_ms - FT_OPENING_SPAN_MS) * 1000;
}


uint64_t
ft_opening_stamp_us(const ft_call_t *call, const ft_ticket_t *ticket)
{
    if (ft_opening_was_before(call, ticket)) {
        return ft_opening_begin_us(call)
               + ft_draw_scale(ticket->draw, FT_OPENING_SPAN_MS * 1000);
    }

    return (ticket->first_ms + ft_opening_ahead_ms(call)) * 1000
           + ticket->id % 1000;
}


uint64_t
ft_opening_now_us(const ft_call_t *call)
{
    return (call->now_ms + ft_opening_ahead_ms(call)) * 1000;
}


uint64_t
ft_opening_known_ms(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint64_t  last;

    if (!ft_opening_was_before(call, ticket)) {
        return ticket->first_ms;
    }

    /* at the latest when it came for the last time before the opening */

    last = ft_opening_at_ms(call) - call->rules->poll_max_ms * 5 / 4;

    return ticket->first_ms > last ? ticket->first_ms : last;
}


bool
ft_opening_is_new_to(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint8_t  place;

    if (ft_opening_was_before(call, ticket)) {
        return ticket->seen_ms < ft_opening_at_ms(call);
    }

    return ticket->epoch == ft_load(&call->state->epoch)
           && !ft_opening_unseal(call, ticket, &place);
}


uint64_t
ft_opening_first_us(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t stamp_us)
{
    return ft_opening_was_before(call, ticket) ? ft_opening_begin_us(call)
                                               : stamp_us;
}


/*
 * The level of a count tells how far in front its stamp stands: until the ticket
 * comes back it is hidden under bits of the lot that nothing else shows.
 */
uint8_t
ft_opening_seal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t place)
{
    uint32_t  turn;

    turn = ft_load(&call->state->opening.turn);

    if (ft_opening_was_before(call, ticket)) {
        place ^= ticket->draw & FT_LANE_MASK;
    }

    return (uint8_t) (place | (turn & FT_TURN_MASK) << FT_TURN_SHIFT);
}


bool
ft_opening_unseal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t *place)
{
    uint32_t  turn;

    turn = ft_load(&call->state->opening.turn);
    *place = ticket->place & FT_PLACE_MASK;

    if (ft_opening_was_before(call, ticket)) {
        *place ^= ticket->draw & FT_LANE_MASK;
    }

    return (ticket->place >> FT_TURN_SHIFT) == (turn & FT_TURN_MASK);
}


/*
 * Once soon, to be counted; then rarely, and at last so that all come back soon
 * after the opening, each at a moment of its own that has nothing to do with its
 * lot.
 */
uint32_t
ft_opening_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    bool counted)
{
    uint64_t  left, most, min, max;

    left = ft_opening_at_ms(call) - call->now_ms;
    most = call->rules->poll_max_ms;

    if (!counted && left >= 2 * FT_COUNT_MIN_MS) {
        min = FT_COUNT_MIN_MS;
        max = left / 2 < FT_COUNT_MAX_MS ? left / 2 : FT_COUNT_MAX_MS;

    } else if (left <= most) {
        min = left;
        max = left + ft_opening_gather_ms(call);
        ft_store(&call->state->opening.gathered_ms, call->now_ms + max);

    } else {

        /* not so that a second is left over for one more request */

        max = left < 2 * most ? left / 2 + left / 20 : most;
        min = max - max / 10;
    }

    max = max > most ? most : max;
    min = min > max ? max : min;
    min += ft_mix(ticket->id ^ (call->now_ms << 20)) % (max - min + 1);

    return (uint32_t) (min > call->rules->poll_min_ms
                       ? min : call->rules->poll_min_ms);
}


/* The line as it will stand at the opening; it forgets what it was before. */
static void
ft_opening_lay(const ft_call_t *call)
{
    ft_state_t  *state;

    state = call->state;

    atomic_fetch_add(&state->opening.turn, 1);
    ft_control_clear(call);
    ft_control_begin(call, ft_opening_begin_us(call));
}


/*
 * The rules say now that it is open, but the line waits for an opening: that was
 * taken back.  As after a restart, it listens for who is there.
 */
static void
ft_opening_take_back(const ft_call_t *call, uint64_t opens_ms)
{
    ft_state_t  *state;

    state = call->state;

    if (!atomic_compare_exchange_strong(&state->opening.opens_ms, &opens_ms,
                                        0))
    {
        return;
    }

    atomic_fetch_add(&state->opening.turn, 1);
    ft_control_clear(call);
    ft_store(&state->control.rebuilt_ms, 0);
    ft_store(&state->born_ms, call->now_ms);
}


static bool
ft_opening_beats(const ft_call_t *call, const _Atomic uint64_t *beat_ms)
{
    uint64_t  beat;

    beat = ft_load(beat_ms);

    return beat && call->now_ms < beat + FT_CENSUS_AHEAD_MS;
}


static void
ft_opening_beat(const ft_call_t *call, _Atomic uint64_t *beat_ms)
{
    if (ft_load(beat_ms) + FT_BEAT_MS <= call->now_ms) {
        ft_store(beat_ms, call->now_ms);
    }
}


/*
 * A line is of one opening.  Where two places that share it have different ones
 * (or one has none), it is that of the first to open, and the others count
 * nobody until they are alone with it.
 */
void
ft_opening_arrange(const ft_call_t *call)
{
    uint64_t       opens, known, ordered;
    ft_opening_t  *opening;

    opening = &call->state->opening;
    opens = call->rules->opens_ms;
    known = ft_load(&opening->opens_ms);

    if (!ft_opening_is_closed(call)) {

        ft_opening_beat(call, &opening->open_beat_ms);
        ordered = ft_load(&call->state->orders.opens_ms);

        if (ordered && call->now_ms < opens) {
            ft_store(&opening->opened_ms, ordered);
        }

        if (call->now_ms < known && opens <= call->now_ms) {
            ft_opening_take_back(call, known);
        }

        return;
    }

    if (ft_load(&opening->opened_ms)) {

        /* it was opened, and that was taken back: the line has moved */

        ft_store(&opening->opened_ms, 0);
        ft_store(&opening->open_beat_ms, 0);
        known = 0;
        ft_store(&opening->opens_ms, 0);
    }

    if (known != opens) {

        if (ft_opening_beats(call, &opening->open_beat_ms)
            || (call->now_ms < known && known < opens
                && ft_opening_beats(call, &opening->closed_beat_ms)))
        {
            return;
        }

        if (atomic_compare_exchange_strong(&opening->opens_ms, &known, opens)) {
            ft_opening_lay(call);
        }
    }

    ft_opening_beat(call, &opening->closed_beat_ms);
}


bool
ft_opening_counts(const ft_call_t *call)
{
    return ft_load(&call->state->opening.opens_ms) == call->rules->opens_ms;
}
