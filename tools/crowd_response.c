
#include "crowd_response.h"

#include <string.h>

#include <jansson.h>


#define CROWD_RESPONSE_RETRY_MS      1000   /* without any advice */
#define CROWD_RESPONSE_RETRY_MIN_MS  10


typedef struct {
    const char             *name;
    crowd_response_kind_t   kind;
} crowd_response_name_t;

typedef struct {
    long                    status;
    crowd_response_kind_t   kind;
} crowd_response_code_t;


/* "status" in the JSON of the edge and of the checkout */
static const crowd_response_name_t  crowd_response_names[] = {
    { "queued", CROWD_RESPONSE_WAIT },
    { "closed", CROWD_RESPONSE_WAIT },
    { "rejected", CROWD_RESPONSE_WAIT },
    { "busy", CROWD_RESPONSE_WAIT },
    { "closing", CROWD_RESPONSE_WAIT },
    { "admitted", CROWD_RESPONSE_ADMITTED },
    { "confirmed", CROWD_RESPONSE_CONFIRMED },
    { "declined", CROWD_RESPONSE_DECLINED },
    { "sold_out", CROWD_RESPONSE_SOLD_OUT },
    { "too_late", CROWD_RESPONSE_TOO_LATE },
};

/* HTTP status, of a response without known JSON */
static const crowd_response_code_t  crowd_response_codes[] = {
    { 200, CROWD_RESPONSE_CONFIRMED },
    { 402, CROWD_RESPONSE_DECLINED },
    { 409, CROWD_RESPONSE_SOLD_OUT },
    { 429, CROWD_RESPONSE_WAIT },
    { 503, CROWD_RESPONSE_WAIT },
};


#define CROWD_RESPONSE_NAMES                                                  \
    (sizeof(crowd_response_names) / sizeof(crowd_response_names[0]))
#define CROWD_RESPONSE_CODES                                                  \
    (sizeof(crowd_response_codes) / sizeof(crowd_response_codes[0]))


static crowd_response_kind_t
crowd_response_by_code(long status)
{
    size_t  i;

    for (i = 0; i < CROWD_RESPONSE_CODES; i++) {
        if (crowd_response_codes[i].status == status) {
            return crowd_response_codes[i].kind;
        }
    }

    return CROWD_RESPONSE_UNKNOWN;
}


static bool
crowd_response_by_name(const char *name, crowd_response_kind_t *kind)
{
    size_t  i;

    for (i = 0; i < CROWD_RESPONSE_NAMES; i++) {
        if (strcmp(name, crowd_response_names[i].name) == 0) {
            *kind = crowd_response_names[i].kind;
            return true;
        }
    }

    return false;
}


static json_t *
crowd_response_json(const crowd_http_request_t *request)
{
    if (request->body == NULL || request->type == NULL
        || strncmp(request->type, "application/json", 16) != 0)
    {
        return NULL;
    }

    return json_loadb(request->body, request->len, 0, NULL);
}


crowd_response_t
crowd_response_parse(const crowd_http_request_t *request, bool poll)
{
    json_t            *json, *retry;
    const char        *name;
    crowd_response_t   response;

    response.retry_ms = request->retry_after_s * 1000;
    response.whole_seconds = true;
    response.first_attempt_ms = 0;
    response.kind = crowd_response_by_code(request->status);

    json = crowd_response_json(request);

    /* jansson's getters accept NULL */
    name = json_string_value(json_object_get(json, "status"));

    if (name != NULL && crowd_response_by_name(name, &response.kind)) {
        response.first_attempt_ms =
            json_integer_value(json_object_get(json, "first_attempt_ms"));

        retry = json_object_get(json, "retry_ms");

        if (retry != NULL) {
            response.retry_ms = json_integer_value(retry);
            response.whole_seconds = false;
        }
    }

    json_decref(json);

    /* a poll that is not throttled gets the page */
    if (poll && response.kind == CROWD_RESPONSE_CONFIRMED) {
        response.kind = CROWD_RESPONSE_ADMITTED;
    }

    if (response.retry_ms == 0) {
        response.retry_ms = CROWD_RESPONSE_RETRY_MS;

    } else if (response.retry_ms < CROWD_RESPONSE_RETRY_MIN_MS) {
        response.retry_ms = CROWD_RESPONSE_RETRY_MIN_MS;
    }

    return response;
}
