
/*
 * flashctl's orders, and looking at the status.
 */

#include "ctl.h"

#include <stdlib.h>
#include <string.h>


/* Bytes as JSON has them here: each is the character of that number. */
static json_t *
ft_ctl_string(const char *bytes)
{
    char           *text, *p;
    json_t         *string;
    unsigned char   c;

    text = malloc(2 * strlen(bytes) + 1);

    if (text == NULL) {
        return NULL;
    }

    for (p = text; *bytes; bytes++) {
        c = (unsigned char) *bytes;

        if (c < 0x80) {
            *p++ = (char) c;

        } else {
            *p++ = (char) (0xc0 | c >> 6);
            *p++ = (char) (0x80 | (c & 0x3f));
        }
    }

    *p = '\0';
    string = json_string(text);
    free(text);

    return string;
}


void
ft_ctl_mark(char *text, bool mark)
{
    const char  *from, *to;

    from = mark ? "\\u0000" : "\\u2400";
    to = mark ? "\\u2400" : "\\u0000";

    while ((text = strchr(text, '\\')) != NULL) {

        if (strncmp(text, from, 6) == 0) {
            memcpy(text, to, 6);
        }

        text += text[1] ? 2 : 1;
    }
}


static json_t *
ft_ctl_load(char *text)
{
    json_t  *json;

    ft_ctl_mark(text, true);
    json = json_loads(text, 0, NULL);
    ft_ctl_mark(text, false);

    return json;
}


static char *
ft_ctl_body(const ft_ctl_options_t *options, const char *command,
    const char *rate)
{
    char    *body;
    json_t  *order;

    order = json_object();

    json_object_set_new(order, "command", ft_ctl_string(command));

    if (rate) {
        json_object_set_new(order, "rate", ft_ctl_string(rate));
    }

    if (options->zone) {
        json_object_set_new(order, "zone", ft_ctl_string(options->zone));
    }

    if (options->key) {
        json_object_set_new(order, "key", ft_ctl_string(options->key));
    }

    if (options->fresh) {
        json_object_set_new(order, "new", json_true());
    }

    body = json_dumps(order, JSON_ENSURE_ASCII|JSON_COMPACT);
    json_decref(order);

    return body;
}


static void
ft_ctl_print_rate(const char *name, int64_t milli)
{
    if (milli) {
        printf(", %s%lld.%03lld/s", name, (long long) milli / 1000,
               (long long) milli % 1000);
    }
}


static void
ft_ctl_print_state(json_t *answer)
{
    json_t  *state;

    state = json_object_get(answer, "state");

    ft_ctl_print_text(stdout, json_string_value(json_object_get(answer,
                                                                "zone")));
    printf(" ");
    ft_ctl_print_text(stdout, json_string_value(json_object_get(answer,
                                                                "key")));
    printf(": %s",
           json_is_true(json_object_get(state, "sold_out")) ? "sold out"
           : json_is_true(json_object_get(state, "hold")) ? "hold"
           : ft_ctl_figure(state, "opened_ms") ? "opened" : "no hold");
    ft_ctl_print_opening(stdout, state);
    ft_ctl_print_rate("rate ", ft_ctl_figure(state, "rate_now_milli"));
    printf(", %lld waiting, %lld at the upstream\n",
           (long long) ft_ctl_figure(state, "waiting"),
           (long long) ft_ctl_figure(state, "inflight"));
}


int
ft_ctl_order(const ft_ctl_options_t *options, const char *command,
    const char *rate)
{
    int               code;
    char             *body;
    json_t           *json;
    ft_ctl_answer_t   answer;

    body = ft_ctl_body(options, command, rate);

    if (body == NULL || !ft_ctl_ask(options, "control", body, &answer)) {
        fprintf(stderr, "flashctl: no memory\n");
        free(body);
        return FT_CTL_SILENT;
    }

    free(body);

    code = FT_CTL_DONE;
    json = answer.status == 200 ? ft_ctl_load(answer.text) : NULL;

    if (!json_is_object(json_object_get(json, "state"))
        || !json_is_string(json_object_get(json, "zone"))
        || !json_is_string(json_object_get(json, "key")))
    {
        code = ft_ctl_complain(options, "control", &answer);

    } else if (options->json) {
        fputs(answer.text, stdout);

    } else {
        ft_ctl_print_state(json);
    }

    json_decref(json);
    ft_ctl_free(&answer);

    return code;
}


json_t *
ft_ctl_look(const ft_ctl_options_t *options, int *code)
{
    json_t           *status;
    ft_ctl_answer_t   answer;

    if (!ft_ctl_ask(options, "status", NULL, &answer)) {
        fprintf(stderr, "flashctl: no memory\n");
        *code = FT_CTL_SILENT;
        return NULL;
    }

    status = answer.status == 200 ? ft_ctl_load(answer.text) : NULL;

    if (!json_is_object(json_object_get(status, "zones"))) {
        *code = ft_ctl_complain(options, "status", &answer);
        json_decref(status);
        status = NULL;
    }

    ft_ctl_free(&answer);

    return status;
}


/* Whether it is what was asked for, in the bytes of the command line. */
static bool
ft_ctl_wanted(const char *option, const char *name)
{
    bool     same;
    json_t  *string;

    if (option == NULL) {
        return true;
    }

    string = ft_ctl_string(option);
    same = string && strcmp(json_string_value(string), name) == 0;
    json_decref(string);

    return same;
}


bool
ft_ctl_each(const ft_ctl_options_t *options, json_t *status,
    ft_ctl_each_pt each, void *data)
{
    unsigned     zones, keys;
    json_t      *zone, *state;
    const char  *name, *key;

    zones = 0;
    keys = 0;

    json_object_foreach(json_object_get(status, "zones"), name, zone) {

        if (!ft_ctl_wanted(options->zone, name)) {
            continue;
        }

        zones++;

        json_object_foreach(json_object_get(zone, "keys"), key, state) {
            if (ft_ctl_wanted(options->key, key)) {
                keys++;
                each(name, zone, key, state, data);
            }
        }
    }

    if (zones == 0) {
        fprintf(stderr, "flashctl: there is no zone%s%s\n",
                options->zone ? " " : "", options->zone ? options->zone : "");
        return false;
    }

    if (keys == 0 && options->key) {
        fprintf(stderr, "flashctl: nobody has asked for the key %s yet\n",
                options->key);
        return false;
    }

    return true;
}


int64_t
ft_ctl_figure(json_t *object, const char *name)
{
    json_int_t  n;

    n = json_integer_value(json_object_get(object, name));

    return n < 0 ? 0 : n > FT_CTL_FIGURE_MAX ? FT_CTL_FIGURE_MAX : n;
}
