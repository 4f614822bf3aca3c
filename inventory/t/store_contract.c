/*
 * The contract of every store: makes calls one after another and compares the
 * results.  Prints TAP.
 *
 * usage: store_contract SCHEME:PLACE      the store must not exist
 */

#include "clock.h"
#include "store_backend.h"
#include "store_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define ITEMS      2
#define LOCATIONS  3
#define LEVELS     (ITEMS * LOCATIONS)
#define STOCK      30                            /* of an item: 10, 10, 10 */
#define MINUTE_MS  60000


static const co_store_backend_t *const  backends[] = {
    &co_store_sqlite,
    &co_store_mysql,
    &co_store_redis,
    &co_store_shadow,
    NULL
};

static struct event_base  *base;
static co_store_t         *store;
static co_store_call_t     call;
static co_order_t          order = { .id = "FT-0", .email = "a@example.com" };
static int                 answered;
static co_store_result_e   answer;
static int                 tests, failures;


static void
ok(int good, const char *what)
{
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
}


static void
done(void *data, co_store_result_e result)
{
    (void) data;

    answered = 1;
    answer = result;
}


static co_store_result_e
wait_for_it(void)
{
    for (answered = 0; !answered; /* void */) {
        event_base_loop(base, EVLOOP_ONCE);
    }

    return answer;
}


static co_store_result_e
reserve(co_hold_t *hold, const co_cart_t *cart)
{
    co_store_reserve(store, &call, hold, cart, done, NULL);
    return wait_for_it();
}


static co_store_result_e
claim(co_hold_t *hold)
{
    static int  n;

    snprintf(order.id, sizeof(order.id), "FT-%d", ++n);
    order.paid_ms = co_wall_ms();

    co_store_claim(store, &call, hold, &order, done, NULL);
    return wait_for_it();
}


static co_store_result_e
release(co_hold_t *hold)
{
    co_store_release(store, &call, hold, done, NULL);
    return wait_for_it();
}


static co_store_result_e
apply(co_hold_t *hold)
{
    co_store_apply(store, &call, hold, done, NULL);
    return wait_for_it();
}


static co_store_result_e
look(const co_cart_t *cart)
{
    co_store_look(store, &call, cart, done, NULL);
    return wait_for_it();
}


static co_store_result_e
sell(const co_cart_t *cart)
{
    snprintf(order.id, sizeof(order.id), "FT-sold-%d", tests);

    co_store_sell(store, &call, cart, &order, done, NULL);
    return wait_for_it();
}


static co_store_result_e
reset(void)
{
    co_store_reset(store, &call, done, NULL);
    return wait_for_it();
}


static int64_t
expire(int64_t now_ms, co_expired_t *expired)
{
    co_store_expire(store, &call, now_ms, expired, done, NULL);
    return wait_for_it() == CO_STORE_OK ? expired->units : -1;
}


/* The stock of an item at a location, or of all of them with 0. */
static co_stock_t
count(int item, int location)
{
    int          i;
    co_level_t   levels[LEVELS];
    co_stock_t   sum = { 0, 0, 0, 0 };

    co_store_count(store, &call, levels, done, NULL);

    if (wait_for_it() != CO_STORE_OK) {
        sum.initial = -1;
        return sum;
    }

    for (i = 0; i < LEVELS; i++) {
        if ((item == 0 || levels[i].item == item)
            && (location == 0 || levels[i].location == location))
        {
            sum.initial += levels[i].stock.initial;
            sum.available += levels[i].stock.available;
            sum.held += levels[i].stock.held;
            sum.sold += levels[i].stock.sold;
        }
    }

    return sum;
}


static void
stock_is(int item, int location, int64_t available, int64_t held,
    int64_t sold, const char *what)
{
    int         good;
    co_stock_t  stock;

    stock = count(item, location);
    good = stock.available == available && stock.held == held
           && stock.sold == sold
           && stock.available + stock.held + stock.sold == stock.initial;

    ok(good, what);

    if (!good) {
        printf("# item %d, location %d: %lld available, %lld held, %lld sold"
               " of %lld\n", item, location, (long long) stock.available,
               (long long) stock.held, (long long) stock.sold,
               (long long) stock.initial);
    }
}


static co_cart_t
cart_of(int item, int64_t quantity, uint32_t locations)
{
    co_cart_t  cart = { .lines_n = 1, .lines = { { item, quantity } },
                        .locations = locations };

    return cart;
}


static void
test_holds(void)
{
    co_cart_t  cart = cart_of(1, 3, CO_ALL_LOCATIONS);
    co_hold_t  hold, again;

    co_hold_new(&hold, MINUTE_MS);

    ok(look(&cart) == CO_STORE_OK, "a look finds them");
    ok(reserve(&hold, &cart) == CO_STORE_OK, "three units are held");
    ok(hold.parts_n == 1 && hold.parts[0].quantity == 3,
       "at one location, as one has them all");
    stock_is(1, 0, 27, 3, 0, "and no more");

    again = hold;
    again.parts_n = 0;

    ok(reserve(&again, &cart) == CO_STORE_OK, "the same again");
    ok(again.parts_n == 1 && again.parts[0].location == hold.parts[0].location,
       "tells what it has");
    stock_is(1, 0, 27, 3, 0, "and takes nothing");

    again.parts_n = 0;

    ok(claim(&again) == CO_STORE_OK, "claimed by name alone");
    stock_is(1, 0, 27, 0, 3, "sold");
    ok(claim(&again) == CO_STORE_OK, "claimed again");
    stock_is(1, 0, 27, 0, 3, "once");
    ok(release(&again) == CO_STORE_GONE, "what is sold is not released");
    stock_is(1, 0, 27, 0, 3, "and stays sold");
}


static void
test_release(void)
{
    co_cart_t  cart = cart_of(2, 2, CO_ALL_LOCATIONS);
    co_hold_t  hold;

    co_hold_new(&hold, MINUTE_MS);

    ok(reserve(&hold, &cart) == CO_STORE_OK, "two units are held");
    stock_is(2, 0, 28, 2, 0, "held");

    hold.parts_n = 0;

    ok(release(&hold) == CO_STORE_OK, "and released");
    ok(release(&hold) == CO_STORE_GONE, "once");
    ok(claim(&hold) == CO_STORE_GONE, "what was released is not claimed");
    stock_is(2, 0, 30, 0, 0, "all is back");
}


static void
test_expiry(void)
{
    int64_t        now = co_wall_ms();
    co_cart_t      cart = cart_of(2, 1, CO_ALL_LOCATIONS);
    co_hold_t      sooner, later;
    co_expired_t   expired;

    co_hold_new(&sooner, MINUTE_MS);
    co_hold_new(&later, 10 * MINUTE_MS);

    reserve(&later, &cart);
    reserve(&sooner, &cart);

    ok(expire(now, &expired) == 0 && expired.n == 0, "none expires early");
    ok(expire(now + 2 * MINUTE_MS, &expired) == 1 && expired.n == 1
       && strcmp(expired.ids[0], sooner.id) == 0, "one does, and which");
    ok(expire(now + 2 * MINUTE_MS, &expired) == 0, "once");
    ok(claim(&sooner) == CO_STORE_GONE, "what has expired is not claimed");
    ok(claim(&later) == CO_STORE_OK, "what has not is");
    stock_is(2, 0, 29, 0, 1, "and the units are where they should");
}


static void
test_locations(void)
{
    co_cart_t  two = cart_of(1, 2, 1u << 1);
    co_cart_t  many = cart_of(1, 15, CO_ALL_LOCATIONS);
    co_cart_t  rest = cart_of(1, 11, 1u << 1);
    co_hold_t  hold;

    reset();
    stock_is(0, 0, ITEMS * STOCK, 0, 0, "reset");

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &two) == CO_STORE_OK && hold.parts_n == 1
       && hold.parts[0].location == 2, "only the location that can deliver");
    stock_is(1, 2, 8, 2, 0, "has two less");

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &rest) == CO_STORE_SOLD_OUT, "it has not eleven");
    stock_is(1, 0, 28, 2, 0, "and nothing is taken elsewhere");

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &many) == CO_STORE_OK && hold.parts_n >= 2,
       "fifteen come from several");
    stock_is(1, 0, 13, 17, 0, "together");
    ok(claim(&hold) == CO_STORE_OK, "and are claimed together");
    stock_is(1, 0, 13, 2, 15, "all of them");
}


static void
test_carts(void)
{
    co_cart_t  cart = { .lines_n = 2, .lines = { { 1, 4 }, { 2, 5 } },
                        .locations = CO_ALL_LOCATIONS };
    co_hold_t  hold;

    reset();

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &cart) == CO_STORE_OK, "a cart of two items");
    stock_is(1, 0, 26, 4, 0, "the first");
    stock_is(2, 0, 25, 5, 0, "the second");
    ok(release(&hold) == CO_STORE_OK, "goes back");

    cart.lines[1].quantity = STOCK + 1;

    co_hold_new(&hold, MINUTE_MS);
    ok(look(&cart) == CO_STORE_SOLD_OUT, "a look at more than there is");
    ok(reserve(&hold, &cart) == CO_STORE_SOLD_OUT, "all or nothing");
    stock_is(0, 0, ITEMS * STOCK, 0, 0, "nothing");
}


static void
test_last_unit(void)
{
    int        i, refused = 0;
    co_cart_t  one = cart_of(1, 1, CO_ALL_LOCATIONS);
    co_hold_t  hold, last, again;

    reset();

    for (i = 0; i < STOCK; i++) {
        co_hold_new(&hold, MINUTE_MS);
        refused += reserve(&hold, &one) != CO_STORE_OK;
        last = hold;
    }

    ok(refused == 0, "nobody is refused while there is one");
    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &one) == CO_STORE_SOLD_OUT, "then it is sold out");
    ok(look(&one) == CO_STORE_SOLD_OUT, "to the eye, too");
    stock_is(1, 0, 0, STOCK, 0, "all held");

    /* as after an answer that was lost on the way */
    again = last;
    again.parts_n = 0;
    ok(reserve(&again, &one) == CO_STORE_OK && again.parts_n == 1,
       "but not to who holds the last one");
    stock_is(1, 0, 0, STOCK, 0, "once");

    release(&last);
    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &one) == CO_STORE_OK, "one that comes back is had");
    stock_is(1, 0, 0, STOCK, 0, "again all held");
}


static void
test_applied(void)
{
    co_hold_t  hold, debt;
    co_cart_t  all = cart_of(1, STOCK - 4, CO_ALL_LOCATIONS);

    reset();

    co_hold_new(&hold, MINUTE_MS);
    hold.parts_n = 2;
    hold.parts[0] = (co_part_t) { .item = 1, .location = 1, .quantity = 2 };
    hold.parts[1] = (co_part_t) { .item = 1, .location = 3, .quantity = 2 };

    ok(apply(&hold) == CO_STORE_OK, "another's decision");
    ok(apply(&hold) == CO_STORE_OK, "twice");
    stock_is(1, 1, 8, 2, 0, "at one place");
    stock_is(1, 3, 8, 2, 0, "and the other");

    co_hold_new(&debt, MINUTE_MS);
    ok(reserve(&debt, &all) == CO_STORE_OK, "all the rest is held");

    co_hold_new(&debt, MINUTE_MS);
    debt.parts_n = 1;
    debt.parts[0] = (co_part_t) { .item = 1, .location = 1, .quantity = 3 };

    ok(apply(&debt) == CO_STORE_DEBT, "what is not there is a debt");
    stock_is(1, 1, -3, 13, 0, "that is written down");
    ok(release(&hold) == CO_STORE_OK && release(&debt) == CO_STORE_OK,
       "and paid back");
    stock_is(1, 1, 2, 8, 0, "to the unit");
}


/* A claim whose answer was lost is done again, from its beginning. */
static void
test_applied_late(void)
{
    co_hold_t  hold;

    reset();

    co_hold_new(&hold, MINUTE_MS);
    hold.parts_n = 1;
    hold.parts[0] = (co_part_t) { .item = 2, .location = 1, .quantity = 2 };

    ok(apply(&hold) == CO_STORE_OK, "another's decision");
    ok(claim(&hold) == CO_STORE_OK, "is sold");
    ok(apply(&hold) == CO_STORE_OK, "and told of again");
    stock_is(2, 1, 8, 0, 2, "which takes nothing");
    ok(claim(&hold) == CO_STORE_OK, "and claimed again");
    stock_is(2, 1, 8, 0, 2, "which sells nothing");
}


/* Mistakes of the caller, which must not become mistakes in the stock. */
static void
test_bad_carts(void)
{
    size_t     i;
    co_hold_t  hold;

    static const co_cart_t  carts[] = {
        { 0, { { 1, 1 } }, CO_ALL_LOCATIONS },
        { CO_CART_LINES + 1, { { 1, 1 } }, CO_ALL_LOCATIONS },
        { 1, { { 1, 0 } }, CO_ALL_LOCATIONS },
        { 1, { { 1, -1 } }, CO_ALL_LOCATIONS },
        { 1, { { 1, 1000000000 } }, CO_ALL_LOCATIONS },
        { 1, { { 0, 1 } }, CO_ALL_LOCATIONS },
        { 1, { { ITEMS + 1, 1 } }, CO_ALL_LOCATIONS },
        { 2, { { 1, 1 }, { 1, 1 } }, CO_ALL_LOCATIONS },
        { 2, { { 2, 1 }, { 1, -1 } }, CO_ALL_LOCATIONS },
        { 1, { { 1, 1 } }, 0 }
    };

    reset();

    for (i = 0; i < sizeof(carts) / sizeof(carts[0]); i++) {
        co_hold_new(&hold, MINUTE_MS);
        ok(reserve(&hold, &carts[i]) == CO_STORE_REFUSED, "no cart at all");
        ok(sell(&carts[i]) == CO_STORE_REFUSED, "nor to be sold");
        ok(look(&carts[i]) == CO_STORE_REFUSED, "nor to be looked for");
    }

    co_hold_new(&hold, MINUTE_MS);
    hold.parts_n = 1;
    hold.parts[0] = (co_part_t) { .item = 1, .location = 1, .quantity = -2 };
    ok(apply(&hold) == CO_STORE_REFUSED, "a part of less than nothing");
    hold.parts[0] = (co_part_t) { .item = 1, .location = LOCATIONS + 1,
                                  .quantity = 1 };
    ok(apply(&hold) == CO_STORE_REFUSED, "a part of nowhere");

    stock_is(0, 0, ITEMS * STOCK, 0, 0, "nothing has moved");
}


static void
test_sold_unseen(void)
{
    co_cart_t  more = cart_of(2, STOCK + 2, CO_ALL_LOCATIONS);

    reset();

    ok(sell(&more) == CO_STORE_OK, "sold without a look");
    stock_is(2, 0, -2, 0, STOCK + 2, "is oversold by two");
    reset();
    stock_is(0, 0, ITEMS * STOCK, 0, 0, "until the reset");
}


int
main(int argc, char **argv)
{
    char               error[CO_STORE_ERROR_LEN];
    co_store_conf_t    conf = { .stock = STOCK, .items = ITEMS,
                                .locations = LOCATIONS, .guarded = 0,
                                .callers_expiry = 1 };
    co_store_found_t   found;

    if (argc != 2) {
        fprintf(stderr, "usage: %s SCHEME:PLACE\n", argv[0]);
        return 2;
    }

    setvbuf(stdout, NULL, _IOLBF, 0);

    co_store_register(backends);

    conf.spec = argv[1];
    base = event_base_new();
    store = co_store_open(base, &conf, &found, error);

    if (store == NULL) {
        printf("Bail out! %s: %s\n", argv[1], error);
        return 1;
    }

    test_holds();
    test_release();
    test_expiry();
    test_locations();
    test_carts();
    test_last_unit();
    test_applied();
    test_applied_late();
    test_bad_carts();
    test_sold_unseen();

    co_store_close(store);
    event_base_free(base);
    libevent_global_shutdown();

    printf("1..%d\n", tests);

    return failures != 0;
}
