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
wait_result(void)
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
    return wait_result();
}


static co_store_result_e
claim(co_hold_t *hold)
{
    static int  n;

    snprintf(order.id, sizeof(order.id), "FT-%d", ++n);
    order.paid_ms = co_wall_ms();

    co_store_claim(store, &call, hold, &order, done, NULL);
    return wait_result();
}


static co_store_result_e
release(co_hold_t *hold)
{
    co_store_release(store, &call, hold, done, NULL);
    return wait_result();
}


static co_store_result_e
apply(co_hold_t *hold)
{
    co_store_apply(store, &call, hold, done, NULL);
    return wait_result();
}


static co_store_result_e
look(const co_cart_t *cart)
{
    co_store_look(store, &call, cart, done, NULL);
    return wait_result();
}


static co_store_result_e
sell(const co_cart_t *cart)
{
    snprintf(order.id, sizeof(order.id), "FT-sold-%d", tests);

    co_store_sell(store, &call, cart, &order, done, NULL);
    return wait_result();
}


static co_store_result_e
reset(void)
{
    co_store_reset(store, &call, done, NULL);
    return wait_result();
}


static int64_t
expire(int64_t now_ms, co_expired_t *expired)
{
    co_store_expire(store, &call, now_ms, expired, done, NULL);
    return wait_result() == CO_STORE_OK ? expired->units : -1;
}


/* Returns the stock of an item at a location; 0: of all. */
static co_stock_t
count(int item, int location)
{
    int         i;
    co_level_t  levels[LEVELS];
    co_stock_t  sum = { 0, 0, 0, 0 };

    co_store_count(store, &call, levels, done, NULL);

    if (wait_result() != CO_STORE_OK) {
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

    ok(look(&cart) == CO_STORE_OK, "look: available");
    ok(reserve(&hold, &cart) == CO_STORE_OK, "reserve 3 units");
    ok(hold.parts_n == 1 && hold.parts[0].quantity == 3,
       "one location has them all");
    stock_is(1, 0, 27, 3, 0, "3 are held");

    again = hold;
    again.parts_n = 0;

    ok(reserve(&again, &cart) == CO_STORE_OK, "reserve the same id again");
    ok(again.parts_n == 1 && again.parts[0].location == hold.parts[0].location,
       "returns the same parts");
    stock_is(1, 0, 27, 3, 0, "takes nothing");

    again.parts_n = 0;

    ok(claim(&again) == CO_STORE_OK, "claim by id alone");
    stock_is(1, 0, 27, 0, 3, "3 are sold");
    ok(claim(&again) == CO_STORE_OK, "claim again");
    stock_is(1, 0, 27, 0, 3, "no further effect");
    ok(release(&again) == CO_STORE_GONE, "release a sold hold: gone");
    stock_is(1, 0, 27, 0, 3, "still sold");
}


static void
test_release(void)
{
    co_cart_t  cart = cart_of(2, 2, CO_ALL_LOCATIONS);
    co_hold_t  hold;

    co_hold_new(&hold, MINUTE_MS);

    ok(reserve(&hold, &cart) == CO_STORE_OK, "reserve 2 units");
    stock_is(2, 0, 28, 2, 0, "2 are held");

    hold.parts_n = 0;

    ok(release(&hold) == CO_STORE_OK, "release");
    ok(release(&hold) == CO_STORE_GONE, "release again: gone");
    ok(claim(&hold) == CO_STORE_GONE, "claim a released hold: gone");
    stock_is(2, 0, 30, 0, 0, "all are available");
}


static void
test_expiry(void)
{
    int64_t       now = co_wall_ms();
    co_cart_t     cart = cart_of(2, 1, CO_ALL_LOCATIONS);
    co_hold_t     sooner, later;
    co_expired_t  expired;

    co_hold_new(&sooner, MINUTE_MS);
    co_hold_new(&later, 10 * MINUTE_MS);

    reserve(&later, &cart);
    reserve(&sooner, &cart);

    ok(expire(now, &expired) == 0 && expired.n == 0, "expire: none is due");
    ok(expire(now + 2 * MINUTE_MS, &expired) == 1 && expired.n == 1
       && strcmp(expired.ids[0], sooner.id) == 0, "expire: one, with its id");
    ok(expire(now + 2 * MINUTE_MS, &expired) == 0, "expire again: none");
    ok(claim(&sooner) == CO_STORE_GONE, "claim an expired hold: gone");
    ok(claim(&later) == CO_STORE_OK, "claim another hold");
    stock_is(2, 0, 29, 0, 1, "one is sold");
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
       && hold.parts[0].location == 2, "one location can deliver");
    stock_is(1, 2, 8, 2, 0, "it has 2 units less");

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &rest) == CO_STORE_SOLD_OUT,
       "11 units of one location: sold out");
    stock_is(1, 0, 28, 2, 0, "no unit of other locations");

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &many) == CO_STORE_OK && hold.parts_n >= 2,
       "15 units of several locations");
    stock_is(1, 0, 13, 17, 0, "all are held");
    ok(claim(&hold) == CO_STORE_OK, "claim all parts");
    stock_is(1, 0, 13, 2, 15, "all are sold");
}


static void
test_carts(void)
{
    co_cart_t  cart = { .lines_n = 2, .lines = { { 1, 4 }, { 2, 5 } },
                        .locations = CO_ALL_LOCATIONS };
    co_hold_t  hold;

    reset();

    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &cart) == CO_STORE_OK, "reserve two items");
    stock_is(1, 0, 26, 4, 0, "held units of item 1");
    stock_is(2, 0, 25, 5, 0, "held units of item 2");
    ok(release(&hold) == CO_STORE_OK, "release both");

    cart.lines[1].quantity = STOCK + 1;

    co_hold_new(&hold, MINUTE_MS);
    ok(look(&cart) == CO_STORE_SOLD_OUT, "look: too many units");
    ok(reserve(&hold, &cart) == CO_STORE_SOLD_OUT,
       "reserve too many units: sold out");
    stock_is(0, 0, ITEMS * STOCK, 0, 0, "no unit is held");
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

    ok(refused == 0, "reserve the whole stock");
    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &one) == CO_STORE_SOLD_OUT, "one more: sold out");
    ok(look(&one) == CO_STORE_SOLD_OUT, "look: sold out");
    stock_is(1, 0, 0, STOCK, 0, "all are held");

    /* as after a lost result */
    again = last;
    again.parts_n = 0;
    ok(reserve(&again, &one) == CO_STORE_OK && again.parts_n == 1,
       "reserve the last hold again");
    stock_is(1, 0, 0, STOCK, 0, "takes nothing");

    release(&last);
    co_hold_new(&hold, MINUTE_MS);
    ok(reserve(&hold, &one) == CO_STORE_OK, "reserve a released unit");
    stock_is(1, 0, 0, STOCK, 0, "all are held again");
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

    ok(apply(&hold) == CO_STORE_OK, "apply");
    ok(apply(&hold) == CO_STORE_OK, "apply again");
    stock_is(1, 1, 8, 2, 0, "2 units at location 1");
    stock_is(1, 3, 8, 2, 0, "2 units at location 3");

    co_hold_new(&debt, MINUTE_MS);
    ok(reserve(&debt, &all) == CO_STORE_OK, "reserve all other units");

    co_hold_new(&debt, MINUTE_MS);
    debt.parts_n = 1;
    debt.parts[0] = (co_part_t) { .item = 1, .location = 1, .quantity = 3 };

    ok(apply(&debt) == CO_STORE_DEBT, "apply unavailable units: debt");
    stock_is(1, 1, -3, 13, 0, "stock below 0");
    ok(release(&hold) == CO_STORE_OK && release(&debt) == CO_STORE_OK,
       "release both");
    stock_is(1, 1, 2, 8, 0, "the debt is gone");
}


/* As after a claim whose result was lost: apply and claim are repeated. */
static void
test_applied_late(void)
{
    co_hold_t  hold;

    reset();

    co_hold_new(&hold, MINUTE_MS);
    hold.parts_n = 1;
    hold.parts[0] = (co_part_t) { .item = 2, .location = 1, .quantity = 2 };

    ok(apply(&hold) == CO_STORE_OK, "apply");
    ok(claim(&hold) == CO_STORE_OK, "claim");
    ok(apply(&hold) == CO_STORE_OK, "apply a sold hold");
    stock_is(2, 1, 8, 0, 2, "takes no units");
    ok(claim(&hold) == CO_STORE_OK, "claim again: the order");
    stock_is(2, 1, 8, 0, 2, "sells nothing");
}


/* Invalid arguments. */
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
        ok(reserve(&hold, &carts[i]) == CO_STORE_REFUSED,
           "reserve an invalid cart: refused");
        ok(sell(&carts[i]) == CO_STORE_REFUSED, "sell: refused");
        ok(look(&carts[i]) == CO_STORE_REFUSED, "look: refused");
    }

    co_hold_new(&hold, MINUTE_MS);
    hold.parts_n = 1;
    hold.parts[0] = (co_part_t) { .item = 1, .location = 1, .quantity = -2 };
    ok(apply(&hold) == CO_STORE_REFUSED, "a part of -2 units");
    hold.parts[0] = (co_part_t) { .item = 1, .location = LOCATIONS + 1,
                                  .quantity = 1 };
    ok(apply(&hold) == CO_STORE_REFUSED, "a part at an unknown location");

    stock_is(0, 0, ITEMS * STOCK, 0, 0, "the stock is unchanged");
}


static void
test_sell(void)
{
    co_cart_t  more = cart_of(2, STOCK + 2, CO_ALL_LOCATIONS);

    reset();

    ok(sell(&more) == CO_STORE_OK, "sell more than the stock");
    stock_is(2, 0, -2, 0, STOCK + 2, "oversold by 2");
    reset();
    stock_is(0, 0, ITEMS * STOCK, 0, 0, "reset");
}


int
main(int argc, char **argv)
{
    char              error[CO_STORE_ERROR_LEN];
    co_store_conf_t   conf = { .stock = STOCK, .items = ITEMS,
                               .locations = LOCATIONS, .guarded = 0,
                               .callers_expiry = 1 };
    co_store_found_t  found;

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
    test_sell();

    co_store_close(store);
    event_base_free(base);
    libevent_global_shutdown();

    printf("1..%d\n", tests);

    return failures != 0;
}
