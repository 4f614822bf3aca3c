
#include "ctl_control.h"
#include "ctl_http.h"
#include "ctl_json.h"
#include "ctl_print.h"

#include <stdio.h>
#include <stdlib.h>


static char *
ctl_control_body(const ctl_options_t *options, const char *command,
    const char *rate)
{
    char    *body;
    size_t   i;
    json_t  *object;

    const struct {
        const char  *name;
        const char  *value;
    } members[] = {
        { "command", command },
        { "rate", rate },
        { "zone", options->zone },
        { "key", options->key }
    };

    object = json_object();

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].value != NULL
            && json_object_set_new(object, members[i].name,
                                   ctl_json_string(members[i].value)) != 0)
        {
            json_decref(object);
            return NULL;
        }
    }

    if (options->new_key) {
        json_object_set_new(object, "new", json_true());
    }

    body = json_dumps(object, JSON_ENSURE_ASCII|JSON_COMPACT);
    json_decref(object);

    return body;
}


static void
ctl_control_print(const json_t *response)
{
    int64_t        rate_milli;
    const json_t  *state;

    state = json_object_get(response, "state");
    rate_milli = ctl_json_integer(state, "rate_now_milli");

    ctl_print_text(stdout,
                   json_string_value(json_object_get(response, "zone")));
    printf(" ");
    ctl_print_text(stdout,
                   json_string_value(json_object_get(response, "key")));
    printf(": %s",
           ctl_json_flag(state, "sold_out") ? "sold out"
           : ctl_json_flag(state, "paused") ? "paused"
           : ctl_json_integer(state, "opened_ms") ? "opened" : "not paused");
    ctl_print_opens(stdout, state);

    if (rate_milli != 0) {
        printf(", rate %lld.%03lld/s", (long long) rate_milli / 1000,
               (long long) rate_milli % 1000);
    }

    printf(", %lld waiting, %lld at the upstream\n",
           (long long) ctl_json_integer(state, "waiting"),
           (long long) ctl_json_integer(state, "inflight"));
}


int
ctl_control_run(const ctl_options_t *options, const char *command,
    const char *rate)
{
    int                   code;
    char                 *body;
    json_t               *json;
    ctl_http_response_t   response;

    body = ctl_control_body(options, command, rate);

    if (body == NULL
        || !ctl_http_request(options, "control", body, &response))
    {
        fprintf(stderr, "flashctl: out of memory\n");
        free(body);
        return CTL_NO_RESPONSE;
    }

    free(body);

    code = CTL_OK;
    json = response.status == 200 ? ctl_json_load(response.text) : NULL;

    if (!json_is_object(json_object_get(json, "state"))
        || !json_is_string(json_object_get(json, "zone"))
        || !json_is_string(json_object_get(json, "key")))
    {
        code = ctl_http_error(options, "control", &response);

    } else if (options->json) {
        fputs(response.text, stdout);

    } else {
        ctl_control_print(json);
    }

    json_decref(json);
    ctl_http_free(&response);

    return code;
}
