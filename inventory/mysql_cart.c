#include "mysql_cart.h"

#include <string.h>


typedef struct {
    const co_cart_t   *cart;
    int64_t          (*available)[CO_LOCATIONS_MAX];
} co_mysql_cart_rows_t;


static void
co_mysql_cart_row(void *data, int which, MYSQL_ROW row)
{
    int                    i, location;
    co_mysql_cart_rows_t  *looking = data;

    (void) which;

    location = (int) co_sql_number(row, 1);

    for (i = 0; i < looking->cart->lines_n; i++) {
        if (looking->cart->lines[i].item == co_sql_number(row, 0)
            && (looking->cart->locations >> (location - 1) & 1))
        {
            looking->available[i][location - 1] = co_sql_number(row, 2);
        }
    }
}


unsigned
co_mysql_cart_available(co_mysql_t *mysql, co_lease_t *lease,
    const co_cart_t *cart, co_mysql_available_t available)
{
    int                   i;
    co_sql_t             *sql = &lease->sql;
    co_mysql_cart_rows_t  looking = { cart, available };

    memset(available, 0, sizeof(co_mysql_available_t));

    /* a single statement also counts units that become rows meanwhile */
    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT p.item, p.location, p.unpooled"
               " + (SELECT COUNT(*) FROM units u WHERE u.shop = p.shop"
               " AND u.item = p.item AND u.location = p.location)"
               " FROM pools p WHERE p.shop = %d", mysql->shop);

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "%s%d", i == 0 ? " AND p.item IN (" : ", ",
                   cart->lines[i].item);
    }

    co_sql_add(sql, ")");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_cart_row, &looking);
}


int
co_mysql_cart_pick(co_mysql_t *mysql, const co_cart_t *cart,
    co_mysql_available_t available, co_hold_t *hold, int force)
{
    int       i, n, first, location, whole;
    int64_t   wanted, taken;
    unsigned  start;

    start = (unsigned char) hold->id[CO_HOLD_ID_LEN - 1];
    hold->parts_n = 0;

    for (i = 0; i < cart->lines_n; i++) {
        wanted = cart->lines[i].quantity;
        first = hold->parts_n;

        /* from one location if possible, else from several */
        for (whole = 1; whole >= 0 && wanted > 0; whole--) {
            for (n = 0; n < mysql->locations && wanted > 0; n++) {
                location = (int) (start + (unsigned) n) % mysql->locations + 1;
                taken = co_mysql_min(wanted, available[i][location - 1]);

                if (taken <= 0 || (whole && taken < wanted)) {
                    continue;
                }

                co_hold_add(hold, cart->lines[i].item, location, taken);
                wanted -= taken;
            }
        }

        if (wanted == 0) {
            continue;
        }

        if (!force) {
            return 0;
        }

        if (hold->parts_n == first) {
            for (location = 1;
                 !(cart->locations >> (location - 1) & 1)
                 && location < mysql->locations;
                 location++) { /* void */ }

            co_hold_add(hold, cart->lines[i].item, location, 0);
        }

        hold->parts[first].quantity += wanted;
    }

    co_hold_sort(hold);

    return 1;
}
