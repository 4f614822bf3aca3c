#include "redis_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


void
co_redis_text_command(co_redis_command_t *command, co_lua_e script,
    const char *min_sold, const char *a, const char *b, const char *c,
    const char *d)
{
    int          i;
    const char  *args[] = { min_sold, a, b, c, d };

    command->script = co_redis_lua_scripts[script];
    command->keys = CO_REDIS_KEYS;
    memcpy(command->args, co_redis_lua_keys, sizeof(co_redis_lua_keys));

    for (i = 0; i < 5 && args[i] != NULL; i++) {
        command->args[CO_REDIS_KEYS + i] = args[i];
    }

    command->n = CO_REDIS_KEYS + i;
}


char *
co_redis_text_levels(const co_level_t *levels, int n)
{
    int    i;
    char  *text, *at;

    text = malloc((size_t) n * CO_REDIS_TEXT_LEN + 1);
    if (text == NULL) {
        return NULL;
    }

    *text = '\0';
    at = text;

    for (i = 0; i < n; i++) {
        at += snprintf(at, CO_REDIS_TEXT_LEN, "%d:%d:%lld:%lld,",
                       levels[i].item, levels[i].location,
                       (long long) levels[i].stock.initial,
                       (long long) levels[i].stock.sold);
    }

    return text;
}


void
co_redis_text_parts(const co_hold_t *hold, char *text)
{
    int               i;
    const co_part_t  *part;

    *text = '\0';

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];
        text += snprintf(text, CO_REDIS_TEXT_LEN, "%d:%d:%lld,", part->item,
                         part->location, (long long) part->quantity);
    }
}


void
co_redis_text_parse_parts(co_hold_t *hold, const char *text)
{
    int         n;
    co_part_t  *part;
    long long   quantity;

    hold->parts_n = 0;

    while (hold->parts_n < CO_HOLD_PARTS) {
        part = &hold->parts[hold->parts_n];

        if (sscanf(text, "%d:%d:%lld%n", &part->item, &part->location,
                   &quantity, &n)
            != 3)
        {
            return;
        }

        part->quantity = quantity;
        hold->parts_n++;
        text += n;
        text += *text == ',';
    }
}


void
co_redis_text_cart(const co_cart_t *cart, char *text)
{
    int  i;

    *text = '\0';

    for (i = 0; i < cart->lines_n; i++) {
        text += snprintf(text, CO_REDIS_TEXT_LEN, "%d:%lld,",
                         cart->lines[i].item,
                         (long long) cart->lines[i].quantity);
    }
}


void
co_redis_text_locations(const co_cart_t *cart, char *text, size_t size)
{
    int     i;
    size_t  at = 0;

    *text = '\0';

    for (i = 0; i < CO_LOCATIONS_MAX && at < size; i++) {
        if (cart->locations & (1u << i)) {
            at += (size_t) snprintf(text + at, size - at, "%d ", i + 1);
        }
    }
}


int64_t
co_redis_text_number(const redisReply *reply, size_t i)
{
    return reply->elements > i
           && reply->element[i]->type == REDIS_REPLY_INTEGER
           ? reply->element[i]->integer : 0;
}


const char *
co_redis_text_string(const redisReply *reply, size_t i)
{
    return reply->elements > i
           && reply->element[i]->type == REDIS_REPLY_STRING
           ? reply->element[i]->str : "";
}


void
co_redis_text_stock(const redisReply *reply, co_stock_t *stock)
{
    stock->available = co_redis_text_number(reply, 1);
    stock->held = co_redis_text_number(reply, 2);
    stock->sold = co_redis_text_number(reply, 3);
    stock->initial = co_redis_text_number(reply, 4);
}


co_store_result_e
co_redis_text_result(const redisReply *reply)
{
    switch (co_redis_text_number(reply, 0)) {

    case CO_LUA_OK:
        return CO_STORE_OK;

    case CO_LUA_SOLD_OUT:
        return CO_STORE_SOLD_OUT;

    case CO_LUA_GONE:
        return CO_STORE_GONE;

    case CO_LUA_DEBT:
        return CO_STORE_DEBT;
    }

    return CO_STORE_FAILED;
}


void
co_redis_text_expired(const redisReply *reply, co_expired_t *expired)
{
    size_t  i;

    expired->units = co_redis_text_number(reply, 6);
    expired->n = 0;

    for (i = 7; i < reply->elements && expired->n < CO_EXPIRED_MAX; i++) {
        snprintf(expired->ids[expired->n++], sizeof(expired->ids[0]), "%s",
                 co_redis_text_string(reply, i));
    }
}


static int
co_redis_text_compare(const void *one, const void *two)
{
    const co_level_t  *a = one, *b = two;

    return a->item != b->item ? a->item - b->item : a->location - b->location;
}


void
co_redis_text_read_levels(const redisReply *reply, co_level_t *levels, int n)
{
    int     i;
    size_t  at;

    for (i = 0; i < n; i++) {
        at = 6 + (size_t) i * 5;

        if (sscanf(co_redis_text_string(reply, at), "%d:%d", &levels[i].item,
                   &levels[i].location)
            != 2)
        {
            break;
        }

        levels[i].stock.initial = co_redis_text_number(reply, at + 1);
        levels[i].stock.available = co_redis_text_number(reply, at + 2);
        levels[i].stock.held = co_redis_text_number(reply, at + 3);
        levels[i].stock.sold = co_redis_text_number(reply, at + 4);
    }

    qsort(levels, (size_t) n, sizeof(*levels), co_redis_text_compare);
}
