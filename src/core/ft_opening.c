
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_queue.h"


#define FT_COUNT_MIN_MS      500    /* a new shopper returns within these */
#define FT_COUNT_MAX_MS      2000
#define FT_GATHER_PER_MS     4      /* shoppers who return in a ms */
#define FT_GATHER_MIN_MS     500    /* all return within these */
#define FT_GATHER_MAX_MS     5000
#define FT_HEARTBEAT_MS      1000

#define FT_TURN_SHIFT        4
#define FT_TURN_MASK         15


static uint64_t
ft_opening_earlier(uint64_t opens_ms, uint64_t opened_ms)
{
    return opened_ms && opened_ms < opens_ms ? opened_ms : opens_ms;
}


bool
ft_opening_is_closed(const ft_call_t *call)
{
    uint64_t  opened;

    opened = ft_load(&call->state->overrides.opens_ms);

    return call->now_ms < ft_opening_earlier(call->rules->opens_ms, opened);
}


/* As configured, or when the operator opened the sale before that, even if the
   override has been withdrawn since. */
static uint64_t
ft_opening_at_ms(const ft_call_t *call)
{
    uint64_t  opened;

    opened = ft_load(&call->state->overrides.opens_ms);

    if (opened == 0 && call->now_ms >= call->rules->opens_ms) {
        opened = ft_load(&call->state->opening.opened_ms);
    }

    return ft_opening_earlier(call->rules->opens_ms, opened);
}


bool
ft_opening_waits(const ft_call_t *call)
{
    return call->now_ms < ft_load(&call->state->opening.opens_ms)
           && ft_load(&call->state->overrides.opens_ms) == 0;
}


uint64_t
ft_opening_next_ms(const ft_call_t *call)
{
    if (ft_opening_waits(call)) {
        return ft_load(&call->state->opening.opens_ms);
    }

    return ft_opening_is_closed(call) ? call->rules->opens_ms : 0;
}


/* The time in which all return, at a pace that an edge can answer. */
static uint64_t
ft_opening_gather_ms(const ft_call_t *call)
{
    uint64_t            n;
    const ft_census_t  *census;

    census = &call->state->census;
    n = (uint64_t) ft_census_rank_waiting(census) + ft_census_fresh(census);

    return ft_clamp(n / FT_GATHER_PER_MS, FT_GATHER_MIN_MS, FT_GATHER_MAX_MS);
}


bool
ft_opening_gathers(const ft_call_t *call)
{
    return call->now_ms < ft_load(&call->state->opening.gathered_ms);
}


/* A line that was opened early is ahead of the clock: no place has changed. */
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
ft_opening_timestamp_us(const ft_call_t *call, const ft_ticket_t *ticket)
{
    if (ft_opening_was_before(call, ticket)) {
        return ft_opening_begin_us(call)
               + ft_ticket_scale(ticket->shuffle, FT_OPENING_SPAN_MS * 1000);
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

    /* the latest time of its last poll before the opening */

    last = ft_opening_at_ms(call) - call->rules->poll_max_ms * 5 / 4;

    return ft_max(ticket->first_ms, last);
}


bool
ft_opening_is_new_to(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint8_t  place;

    if (ft_opening_was_before(call, ticket)) {
        return ticket->seen_ms < ft_opening_at_ms(call);
    }

    return ticket->generation == ft_load(&call->state->generation)
           && !ft_opening_unseal(call, ticket, &place);
}


uint64_t
ft_opening_first_us(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t timestamp_us)
{
    return ft_opening_was_before(call, ticket) ? ft_opening_begin_us(call)
                                               : timestamp_us;
}


/*
 * The level of a count tells how far in front a ticket is.  It is hidden under
 * bits of the shuffle that nothing else shows.
 */
uint8_t
ft_opening_seal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t place)
{
    uint32_t  turn;

    turn = ft_load(&call->state->opening.turn);

    if (ft_opening_was_before(call, ticket)) {
        place ^= ticket->shuffle & FT_LANE_MASK;
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
        *place ^= ticket->shuffle & FT_LANE_MASK;
    }

    return (ticket->place >> FT_TURN_SHIFT) == (turn & FT_TURN_MASK);
}


/*
 * A new shopper returns soon, to be counted; then all poll rarely, and at last so
 * that they return soon after the opening, at times that do not depend on the
 * shuffle.
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
        max = ft_min(left / 2, FT_COUNT_MAX_MS);

    } else if (left <= most) {
        min = left;
        max = left + ft_opening_gather_ms(call);
        ft_store(&call->state->opening.gathered_ms, call->now_ms + max);

    } else {

        /* leaves no short rest that would need one more request */

        max = left < 2 * most ? left / 2 + left / 20 : most;
        min = max - max / 10;
    }

    max = ft_min(max, most);
    min = ft_min(min, max);
    min += ft_mix(ticket->id ^ (call->now_ms << 20)) % (max - min + 1);

    return (uint32_t) ft_max(min, call->rules->poll_min_ms);
}


/* Lays out the line as it will be at the opening; the earlier one is removed. */
static void
ft_opening_lay_out(const ft_call_t *call)
{
    atomic_fetch_add(&call->state->opening.turn, 1);
    ft_queue_clear(call);
    ft_queue_begin(call, ft_opening_begin_us(call));
}


/*
 * The rules no longer have the opening that the line waits for.  The key listens
 * to who is there, as after a restart.
 */
static void
ft_opening_withdraw(const ft_call_t *call, uint64_t opens_ms)
{
    ft_state_t  *state;

    state = call->state;

    if (!atomic_compare_exchange_strong(&state->opening.opens_ms, &opens_ms,
                                        0))
    {
        return;
    }

    atomic_fetch_add(&state->opening.turn, 1);
    ft_queue_clear(call);
    ft_store(&state->control.listening_ms, 0);
    ft_store(&state->born_ms, call->now_ms);
}


static bool
ft_opening_is_alive(const ft_call_t *call, const _Atomic uint64_t *heartbeat)
{
    uint64_t  at;

    at = ft_load(heartbeat);

    return at && call->now_ms < at + FT_CENSUS_AHEAD_MS;
}


static void
ft_opening_heartbeat(const ft_call_t *call, _Atomic uint64_t *heartbeat)
{
    if (ft_load(heartbeat) + FT_HEARTBEAT_MS <= call->now_ms) {
        ft_store(heartbeat, call->now_ms);
    }
}


/*
 * A line has one opening.  Where a location with early access uses the key, the
 * line is theirs, and the pre-queue is counted when it is alone with the line.
 * The workers of two configurations may differ for a moment after a reload: then
 * the earlier opening counts.
 */
void
ft_opening_arrange(const ft_call_t *call)
{
    uint64_t       opens, known, opened;
    ft_opening_t  *opening;

    opening = &call->state->opening;
    opens = call->rules->opens_ms;
    known = ft_load(&opening->opens_ms);

    if (!ft_opening_is_closed(call)) {

        ft_opening_heartbeat(call, &opening->open_heartbeat_ms);
        opened = ft_load(&call->state->overrides.opens_ms);

        if (opened && call->now_ms < opens) {
            ft_store(&opening->opened_ms, opened);
        }

        if (call->now_ms < known && opens <= call->now_ms) {
            ft_opening_withdraw(call, known);
        }

        return;
    }

    if (ft_load(&opening->opened_ms)) {

        /* opened early, and that was withdrawn: the line has moved */

        ft_store(&opening->opened_ms, 0);
        ft_store(&opening->open_heartbeat_ms, 0);
        known = 0;
        ft_store(&opening->opens_ms, 0);
    }

    if (known != opens) {

        if (ft_opening_is_alive(call, &opening->open_heartbeat_ms)
            || (call->now_ms < known && known < opens
                && ft_opening_is_alive(call, &opening->closed_heartbeat_ms)))
        {
            return;
        }

        if (atomic_compare_exchange_strong(&opening->opens_ms, &known, opens)) {
            ft_opening_lay_out(call);
        }
    }

    ft_opening_heartbeat(call, &opening->closed_heartbeat_ms);
}


bool
ft_opening_counts(const ft_call_t *call)
{
    return ft_load(&call->state->opening.opens_ms) == call->rules->opens_ms;
}
