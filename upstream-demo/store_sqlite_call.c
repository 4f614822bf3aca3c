#include "store_sqlite_call.h"
#include "store_sqlite_sql.h"

#include <stdio.h>
#include <string.h>


static co_store_result_e co_sqlite_reserve(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_apply_hold(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_claim(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_release(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_expire(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_look(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_sell(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_reset(co_sqlite_t *sqlite,
    co_store_call_t *call);
static co_store_result_e co_sqlite_count(co_sqlite_t *sqlite,
    co_store_call_t *call);
static int co_sqlite_find(co_sqlite_t *sqlite, const co_cart_t *cart,
    co_hold_t *hold, int force);
static int co_sqlite_move(co_sqlite_t *sqlite, int which,
    const co_hold_t *hold, int *below);
static int co_sqlite_parts(co_sqlite_t *sqlite, co_hold_t *hold);
static int co_sqlite_remove(co_sqlite_t *sqlite, const char *id);
static int co_sqlite_is_sold(co_sqlite_t *sqlite, const char *id);
static int co_sqlite_order(co_sqlite_t *sqlite, const co_order_t *order,
    const co_hold_t *hold);
static void co_sqlite_totals(co_sqlite_t *sqlite, co_store_call_t *call);


typedef co_store_result_e (*co_sqlite_call_pt)(co_sqlite_t *sqlite,
    co_store_call_t *call);

static const co_sqlite_call_pt  co_sqlite_calls[CO_STORE_ACTIONS] = {
    [CO_STORE_RESERVE] = co_sqlite_reserve,
    [CO_STORE_APPLY] = co_sqlite_apply_hold,
    [CO_STORE_CLAIM] = co_sqlite_claim,
    [CO_STORE_RELEASE] = co_sqlite_release,
    [CO_STORE_EXPIRE] = co_sqlite_expire,
    [CO_STORE_LOOK] = co_sqlite_look,
    [CO_STORE_SELL] = co_sqlite_sell,
    [CO_STORE_RESET] = co_sqlite_reset,
    [CO_STORE_COUNT] = co_sqlite_count
};


/* A failed statement fails the whole transaction. */
void
co_sqlite_call_apply(co_sqlite_t *sqlite, co_store_call_t *call)
{
    call->result = CO_STORE_FAILED;

    if (!sqlite->failed) {
        call->result = co_sqlite_calls[call->action](sqlite, call);
    }

    if (call->result == CO_STORE_FAILED) {
        sqlite->failed = 1;

    } else {
        co_sqlite_totals(sqlite, call);
    }
}


static co_store_result_e
co_sqlite_reserve(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int  below, found;

    if (co_sqlite_parts(sqlite, call->hold) != 0) {
        return CO_STORE_FAILED;
    }

    if (call->hold->parts_n != 0) {
        return CO_STORE_OK;
    }

    found = co_sqlite_find(sqlite, call->cart, call->hold, 0);

    if (found <= 0) {
        call->hold->parts_n = 0;
        return found == 0 ? CO_STORE_SOLD_OUT : CO_STORE_FAILED;
    }

    co_hold_sort(call->hold);

    return co_sqlite_move(sqlite, CO_SQL_HOLD, call->hold, &below) == 0
           && co_sqlite_move(sqlite, CO_SQL_HOLD_ADD, call->hold, NULL) == 0
           ? CO_STORE_OK : CO_STORE_FAILED;
}


static co_store_result_e
co_sqlite_apply_hold(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int         below, sold;
    co_hold_t   there;

    memcpy(there.id, call->hold->id, sizeof(there.id));

    if (co_sqlite_parts(sqlite, &there) != 0) {
        return CO_STORE_FAILED;
    }

    sold = there.parts_n == 0 ? co_sqlite_is_sold(sqlite, there.id) : 0;

    if (sold < 0) {
        return CO_STORE_FAILED;
    }

    if (there.parts_n != 0 || sold) {
        return CO_STORE_OK;
    }

    if (co_sqlite_move(sqlite, CO_SQL_HOLD, call->hold, &below) != 0
        || co_sqlite_move(sqlite, CO_SQL_HOLD_ADD, call->hold, NULL) != 0)
    {
        return CO_STORE_FAILED;
    }

    return below ? CO_STORE_DEBT : CO_STORE_OK;
}


static co_store_result_e
co_sqlite_claim(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int  sold, below;

    if (co_sqlite_parts(sqlite, call->hold) != 0) {
        return CO_STORE_FAILED;
    }

    if (call->hold->parts_n == 0) {
        sold = co_sqlite_is_sold(sqlite, call->hold->id);

        return sold == 1 ? CO_STORE_OK
               : sold == 0 ? CO_STORE_GONE : CO_STORE_FAILED;
    }

    return co_sqlite_remove(sqlite, call->hold->id) == 0
           && co_sqlite_move(sqlite, CO_SQL_CLAIM, call->hold, &below) == 0
           && co_sqlite_order(sqlite, call->order, call->hold) == 0
           ? CO_STORE_OK : CO_STORE_FAILED;
}


static co_store_result_e
co_sqlite_release(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int  below;

    if (co_sqlite_parts(sqlite, call->hold) != 0) {
        return CO_STORE_FAILED;
    }

    if (call->hold->parts_n == 0) {
        return CO_STORE_GONE;
    }

    return co_sqlite_remove(sqlite, call->hold->id) == 0
           && co_sqlite_move(sqlite, CO_SQL_RELEASE, call->hold, &below) == 0
           ? CO_STORE_OK : CO_STORE_FAILED;
}


static co_store_result_e
co_sqlite_expire(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int               i, j, rc;
    co_hold_t         hold;
    sqlite3_stmt     *statement;
    co_expired_t     *expired = call->expired;
    co_store_call_t   release = { .hold = &hold };

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_EXPIRED);
    sqlite3_bind_int64(statement, 1, call->now_ms);
    sqlite3_bind_int(statement, 2, CO_EXPIRED_MAX);

    while ((rc = co_sqlite_sql_step(sqlite, CO_SQL_EXPIRED)) == SQLITE_ROW) {
        snprintf(expired->ids[expired->n++], sizeof(expired->ids[0]), "%s",
                 (const char *) sqlite3_column_text(statement, 0));
    }

    sqlite3_reset(statement);

    if (rc != SQLITE_DONE) {
        return CO_STORE_FAILED;
    }

    for (i = 0; i < expired->n; i++) {
        memcpy(hold.id, expired->ids[i], sizeof(hold.id));

        if (co_sqlite_release(sqlite, &release) != CO_STORE_OK) {
            return CO_STORE_FAILED;
        }

        for (j = 0; j < hold.parts_n; j++) {
            expired->units += hold.parts[j].quantity;
        }
    }

    return CO_STORE_OK;
}


static co_store_result_e
co_sqlite_look(co_sqlite_t *sqlite, co_store_call_t *call)
{
    co_hold_t  hold;

    switch (co_sqlite_find(sqlite, call->cart, &hold, 0)) {

    case 1:
        return CO_STORE_OK;

    case 0:
        return CO_STORE_SOLD_OUT;

    default:
        return CO_STORE_FAILED;
    }
}


static co_store_result_e
co_sqlite_sell(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int        below;
    co_hold_t  hold;

    hold.id[0] = '\0';

    return co_sqlite_find(sqlite, call->cart, &hold, 1) == 1
           && co_sqlite_move(sqlite, CO_SQL_SELL, &hold, &below) == 0
           && co_sqlite_order(sqlite, call->order, &hold) == 0
           ? CO_STORE_OK : CO_STORE_FAILED;
}


static co_store_result_e
co_sqlite_reset(co_sqlite_t *sqlite, co_store_call_t *call)
{
    (void) call;

    return co_sqlite_sql_run(sqlite, CO_SQL_RESET_HOLDS) == 0
           && co_sqlite_sql_run(sqlite, CO_SQL_RESET_ORDERS) == 0
           && co_sqlite_sql_run(sqlite, CO_SQL_RESET_STOCK) == 0
           ? CO_STORE_OK : CO_STORE_FAILED;
}


static void
co_sqlite_row(sqlite3_stmt *statement, co_stock_t *stock)
{
    stock->initial = sqlite3_column_int64(statement, 0);
    stock->available = sqlite3_column_int64(statement, 1);
    stock->held = sqlite3_column_int64(statement, 2);
    stock->sold = sqlite3_column_int64(statement, 3);
}


static co_store_result_e
co_sqlite_count(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int            rc;
    co_level_t    *level = call->levels;
    sqlite3_stmt  *statement;

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_LEVELS);

    while ((rc = co_sqlite_sql_step(sqlite, CO_SQL_LEVELS)) == SQLITE_ROW) {
        co_sqlite_row(statement, &level->stock);
        level->item = sqlite3_column_int(statement, 4);
        level->location = sqlite3_column_int(statement, 5);
        level++;
    }

    sqlite3_reset(statement);

    return rc == SQLITE_DONE ? CO_STORE_OK : CO_STORE_FAILED;
}


static void
co_sqlite_totals(co_sqlite_t *sqlite, co_store_call_t *call)
{
    sqlite3_stmt  *statement;

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_TOTALS);

    if (co_sqlite_sql_step(sqlite, CO_SQL_TOTALS) == SQLITE_ROW) {
        co_sqlite_row(statement, &call->stock);
        call->stock_known = 1;
    }

    sqlite3_reset(statement);
}


/*
 * Selects the locations for the units of a cart: 1 with the parts in "hold",
 * 0 if there are too few units, -1 on failure.  With "force" missing units are
 * taken from the location with the largest stock, which becomes negative.
 */
static int
co_sqlite_find(co_sqlite_t *sqlite, const co_cart_t *cart, co_hold_t *hold,
    int force)
{
    int            i, rc, location, first;
    int64_t        wanted, stock, taken;
    co_part_t     *part;
    sqlite3_stmt  *statement;

    hold->parts_n = 0;

    for (i = 0; i < cart->lines_n; i++) {
        wanted = cart->lines[i].quantity;
        first = hold->parts_n;

        statement = co_sqlite_sql_statement(sqlite, CO_SQL_PLACES);
        sqlite3_bind_int(statement, 1, cart->lines[i].item);
        sqlite3_bind_int64(statement, 2, cart->locations);

        while ((rc = co_sqlite_sql_step(sqlite, CO_SQL_PLACES)) == SQLITE_ROW
               && wanted > 0)
        {
            location = sqlite3_column_int(statement, 0);
            stock = sqlite3_column_int64(statement, 1);
            taken = stock < wanted ? stock : wanted;

            if (taken <= 0 && !(force && hold->parts_n == first)) {
                continue;
            }

            part = &hold->parts[hold->parts_n++];
            part->item = cart->lines[i].item;
            part->location = location;
            part->quantity = taken > 0 ? taken : 0;
            wanted -= part->quantity;
        }

        sqlite3_reset(statement);

        if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
            return -1;
        }

        if (wanted > 0 && (!force || hold->parts_n == first)) {
            return 0;
        }

        if (wanted > 0) {
            hold->parts[first].quantity += wanted;
        }
    }

    return 1;
}


/*
 * Runs a statement for each part of the hold.  Sets "below" if the stock of a
 * location has become negative; NULL for statements without a result.
 */
static int
co_sqlite_move(co_sqlite_t *sqlite, int which, const co_hold_t *hold,
    int *below)
{
    int            i, rc;
    sqlite3_stmt  *statement;

    if (below != NULL) {
        *below = 0;
    }

    for (i = 0; i < hold->parts_n; i++) {
        statement = co_sqlite_sql_statement(sqlite, which);
        sqlite3_bind_int(statement, 1, hold->parts[i].item);
        sqlite3_bind_int(statement, 2, hold->parts[i].location);
        sqlite3_bind_int64(statement, 3, hold->parts[i].quantity);

        if (which == CO_SQL_HOLD_ADD) {
            sqlite3_bind_text(statement, 4, hold->id, -1, SQLITE_STATIC);
            sqlite3_bind_int64(statement, 5, hold->expires_ms);
        }

        rc = co_sqlite_sql_step(sqlite, which);

        if (below != NULL && rc == SQLITE_ROW) {
            *below |= sqlite3_column_int64(statement, 0) < 0;
        }

        sqlite3_reset(statement);

        if (rc != (below != NULL ? SQLITE_ROW : SQLITE_DONE)) {
            return -1;
        }
    }

    return 0;
}


/* Reads the parts of a hold by its id; no parts if there is no such hold. */
static int
co_sqlite_parts(co_sqlite_t *sqlite, co_hold_t *hold)
{
    int            rc;
    co_part_t     *part;
    sqlite3_stmt  *statement;

    hold->parts_n = 0;

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_HOLD_PARTS);
    sqlite3_bind_text(statement, 1, hold->id, -1, SQLITE_STATIC);

    while ((rc = co_sqlite_sql_step(sqlite, CO_SQL_HOLD_PARTS)) == SQLITE_ROW)
    {
        part = &hold->parts[hold->parts_n++];
        part->item = sqlite3_column_int(statement, 0);
        part->location = sqlite3_column_int(statement, 1);
        part->quantity = sqlite3_column_int64(statement, 2);
    }

    sqlite3_reset(statement);

    return rc == SQLITE_DONE ? 0 : -1;
}


static int
co_sqlite_remove(co_sqlite_t *sqlite, const char *id)
{
    sqlite3_stmt  *statement;

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_HOLD_REMOVE);
    sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);

    return co_sqlite_sql_run(sqlite, CO_SQL_HOLD_REMOVE);
}


/* Whether the hold has become an order; -1 on failure. */
static int
co_sqlite_is_sold(co_sqlite_t *sqlite, const char *id)
{
    int            rc;
    sqlite3_stmt  *statement;

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_ORDER_OF);
    sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);

    rc = co_sqlite_sql_step(sqlite, CO_SQL_ORDER_OF);
    sqlite3_reset(statement);

    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}


static int
co_sqlite_order(co_sqlite_t *sqlite, const co_order_t *order,
    const co_hold_t *hold)
{
    int            i;
    int64_t        quantity = 0;
    sqlite3_stmt  *statement;

    for (i = 0; i < hold->parts_n; i++) {
        quantity += hold->parts[i].quantity;
    }

    statement = co_sqlite_sql_statement(sqlite, CO_SQL_ORDER_ADD);

    sqlite3_bind_text(statement, 1, order->id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, quantity);
    sqlite3_bind_text(statement, 4, order->email, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, order->paid_ms);

    if (hold->id[0] != '\0') {
        sqlite3_bind_text(statement, 2, hold->id, -1, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(statement, 2);
    }

    return co_sqlite_sql_run(sqlite, CO_SQL_ORDER_ADD);
}
