#include "form.h"
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>


/* RFC 5321, section 4.5.3.1.3: 256 octets with the angle brackets. */
#define CO_FORM_EMAIL_MAX  254

/* Year 5138. */
#define CO_FORM_DEADLINE_MAX  99999999999999


static int co_form_read_json(const char *body, size_t len, co_form_t *form,
    char *error);
static int co_form_read_pairs(const char *body, co_form_t *form, char *error);
static int co_form_read_deadline(struct evhttp_request *req, co_form_t *form,
    char *error);
static int co_form_is(const char *type, const char *wanted);
static int co_form_set_quantity(co_form_t *form, const char *text,
    char *error);
static int co_form_set_email(co_form_t *form, const char *text, char *error);
static int co_form_set_locations(co_form_t *form, const char *text,
    char *error);


static int
co_form_refuse(int status, char *error, const char *reason)
{
    snprintf(error, CO_FORM_ERROR_LEN, "%s", reason);

    return status;
}


int
co_form_read(struct evhttp_request *req, co_form_t *form, char *error)
{
    int               rc;
    char              body[CO_FORM_BODY_MAX + 1];
    size_t            len;
    const char       *type;
    struct evbuffer  *input;

    memset(form, 0, sizeof(*form));
    form->quantity = 1;
    form->locations = CO_ALL_LOCATIONS;

    rc = co_form_read_deadline(req, form, error);
    if (rc != 0) {
        return rc;
    }

    input = evhttp_request_get_input_buffer(req);
    len = evbuffer_get_length(input);

    if (len == 0) {
        return 0;
    }

    if (len > CO_FORM_BODY_MAX) {
        snprintf(error, CO_FORM_ERROR_LEN, "The body has %zu bytes; the limit"
                 " is %d.", len, CO_FORM_BODY_MAX);
        return 413;
    }

    evbuffer_copyout(input, body, len);
    body[len] = '\0';

    type = evhttp_find_header(evhttp_request_get_input_headers(req),
                              "Content-Type");

    if (type != NULL && co_form_is(type, "application/json")) {
        return co_form_read_json(body, len, form, error);
    }

    if (type != NULL && co_form_is(type, "application/x-www-form-urlencoded"))
    {
        if (strlen(body) != len) {
            return co_form_refuse(400, error, "The form contains a null"
                                  " byte.");
        }

        return co_form_read_pairs(body, form, error);
    }

    return co_form_refuse(415, error, "The Content-Type must be"
                          " application/json or"
                          " application/x-www-form-urlencoded.");
}


/* Compares a media type without its parameters. */
static int
co_form_is(const char *type, const char *wanted)
{
    size_t  len = strlen(wanted);

    if (strncasecmp(type, wanted, len) != 0) {
        return 0;
    }

    type += len;
    type += strspn(type, " \t");

    return *type == '\0' || *type == ';';
}


int64_t
co_form_number(const char *text, int64_t max)
{
    size_t   len;
    int64_t  number;

    /* strtoll() alone would accept signs and spaces */
    len = strspn(text, "0123456789");
    if (len == 0 || text[len] != '\0') {
        return -1;
    }

    errno = 0;
    number = strtoll(text, NULL, 10);

    return errno == 0 && number <= max ? number : -1;
}


static int
co_form_read_deadline(struct evhttp_request *req, co_form_t *form, char *error)
{
    int64_t      ms;
    const char  *value;

    value = evhttp_find_header(evhttp_request_get_input_headers(req),
                               "Flash-Deadline-Ms");
    if (value == NULL) {
        return 0;
    }

    ms = co_form_number(value, CO_FORM_DEADLINE_MAX);
    if (ms == -1) {
        return co_form_refuse(400, error, "Flash-Deadline-Ms must be a time in"
                              " milliseconds since 1970.");
    }

    /* 0 means no deadline */
    form->deadline_ms = ms != 0 ? ms : 1;

    return 0;
}


static int
co_form_read_json(const char *body, size_t len, co_form_t *form, char *error)
{
    int            rc = 0;
    char           digits[24];
    json_t        *root, *quantity, *email, *locations;
    json_error_t   why;

    root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &why);

    if (root == NULL) {
        snprintf(error, CO_FORM_ERROR_LEN, "The JSON is malformed at line %d,"
                 " column %d.", why.line, why.column);
        return 400;
    }

    quantity = json_object_get(root, "quantity");
    email = json_object_get(root, "email");
    locations = json_object_get(root, "locations");

    if (!json_is_object(root)) {
        rc = co_form_refuse(400, error, "The JSON must be an object, for"
                            " example {\"quantity\": 1}.");

    } else if (quantity != NULL) {

        /* all other JSON types become an invalid number */
        snprintf(digits, sizeof(digits), "%s%lld",
                 json_is_integer(quantity) ? "" : "?",
                 (long long) json_integer_value(quantity));

        rc = co_form_set_quantity(form, digits, error);
    }

    if (rc == 0 && email != NULL && !json_is_null(email)) {
        rc = co_form_set_email(form, json_is_string(email)
                                     ? json_string_value(email) : "?", error);
    }

    if (rc == 0 && locations != NULL) {
        rc = co_form_set_locations(form, json_is_string(locations)
                                         ? json_string_value(locations) : "?",
                                   error);
    }

    json_decref(root);

    return rc;
}


static int
co_form_read_pairs(const char *body, co_form_t *form, char *error)
{
    int                rc = 0, quantities = 0, emails = 0, lists = 0;
    struct evkeyval   *pair;
    struct evkeyvalq   pairs;

    if (evhttp_parse_query_str(body, &pairs) != 0) {
        return co_form_refuse(400, error, "The form is malformed; it must be"
                              " URL-encoded, for example quantity=1.");
    }

    TAILQ_FOREACH(pair, &pairs, next) {

        if (strcmp(pair->key, "quantity") == 0) {
            rc = quantities++ ? co_form_refuse(400, error, "The form has two"
                                               " quantities.")
                              : co_form_set_quantity(form, pair->value, error);

        } else if (strcmp(pair->key, "email") == 0) {
            rc = emails++ ? co_form_refuse(400, error, "The form has two"
                                           " e-mail addresses.")
                          : co_form_set_email(form, pair->value, error);

        } else if (strcmp(pair->key, "locations") == 0) {
            rc = lists++ ? co_form_refuse(400, error, "The form has two lists"
                                          " of locations.")
                         : co_form_set_locations(form, pair->value, error);
        }

        if (rc != 0) {
            break;
        }
    }

    evhttp_clear_headers(&pairs);

    return rc;
}


static int
co_form_set_quantity(co_form_t *form, const char *text, char *error)
{
    int64_t  quantity;

    quantity = co_form_number(text, CO_FORM_QUANTITY_MAX);

    if (quantity < 1) {
        snprintf(error, CO_FORM_ERROR_LEN, "The quantity must be a whole"
                 " number from 1 to %d.", CO_FORM_QUANTITY_MAX);
        return 400;
    }

    form->quantity = quantity;

    return 0;
}


/* Parses location numbers separated by commas. */
static int
co_form_set_locations(co_form_t *form, const char *text, char *error)
{
    long         location;
    char        *end;
    const char  *p = text;

    form->locations = 0;

    do {
        location = *p >= '0' && *p <= '9' ? strtol(p, &end, 10) : 0;

        if (location < 1 || location > CO_LOCATIONS_MAX
            || (*end != ',' && *end != '\0'))
        {
            snprintf(error, CO_FORM_ERROR_LEN, "The locations must be whole"
                     " numbers from 1 to %d separated by commas, for example"
                     " \"1,3\".", CO_LOCATIONS_MAX);
            return 400;
        }

        form->locations |= 1u << (location - 1);
        p = end + 1;

    } while (*end == ',');

    return 0;
}


/* A rough check that catches typing errors; an empty address is none. */
static int
co_form_set_email(co_form_t *form, const char *text, char *error)
{
    size_t       len;
    json_t      *utf8;
    const char  *p, *at;

    len = strlen(text);
    if (len == 0) {
        return 0;
    }

    at = strchr(text, '@');

    for (p = text; *p != '\0'; p++) {
        if ((unsigned char) *p <= ' ' || *p == 0x7f) {
            break;
        }
    }

    /* a store could refuse invalid UTF-8, after the payment */
    utf8 = json_string(text);
    json_decref(utf8);

    if (*p != '\0' || len > CO_FORM_EMAIL_MAX || at == NULL || at == text
        || at[1] == '\0' || utf8 == NULL)
    {
        return co_form_refuse(400, error, "The e-mail address must look like"
                              " name@example.org.");
    }

    memcpy(form->email, text, len + 1);

    return 0;
}
