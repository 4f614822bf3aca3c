
#include "ctl_status.h"
#include "ctl_http.h"
#include "ctl_json.h"
#include "ctl_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


json_t *
ctl_status_fetch(const ctl_options_t *options, int *code)
{
    json_t               *status;
    ctl_http_response_t   response;

    if (!ctl_http_request(options, "status", NULL, &response)) {
        fprintf(stderr, "flashctl: out of memory\n");
        *code = CTL_NO_RESPONSE;
        return NULL;
    }

    status = response.status == 200 ? ctl_json_load(response.text) : NULL;

    if (!json_is_object(json_object_get(status, "zones"))) {
        *code = ctl_http_error(options, "status", &response);
        json_decref(status);
        status = NULL;
    }

    ctl_http_free(&response);

    return status;
}


static bool
ctl_status_matches(const char *option, const char *name)
{
    bool     same;
    json_t  *string;

    if (option == NULL) {
        return true;
    }

    string = ctl_json_string(option);
    same = string != NULL && strcmp(json_string_value(string), name) == 0;
    json_decref(string);

    return same;
}


bool
ctl_status_each(const ctl_options_t *options, const json_t *status,
    ctl_status_pt callback, void *data)
{
    unsigned     zones, keys;
    json_t      *zone, *state;
    const char  *name, *key;

    zones = 0;
    keys = 0;

    json_object_foreach(json_object_get(status, "zones"), name, zone) {

        if (!ctl_status_matches(options->zone, name)) {
            continue;
        }

        zones++;

        json_object_foreach(json_object_get(zone, "keys"), key, state) {
            if (ctl_status_matches(options->key, key)) {
                keys++;
                callback(name, zone, key, state, data);
            }
        }
    }

    if (zones == 0) {

        if (options->zone != NULL) {
            fprintf(stderr, "flashctl: zone \"%s\" not found\n", options->zone);

        } else {
            fprintf(stderr, "flashctl: no zones\n");
        }

        return false;
    }

    if (keys == 0 && options->key != NULL) {
        fprintf(stderr, "flashctl: key \"%s\" not found\n", options->key);
        return false;
    }

    return true;
}


static void
ctl_status_print_key(const char *zone, const json_t *limits, const char *key,
    const json_t *state, void *data)
{
    (*(unsigned *) data)++;

    ctl_print_key(stdout, zone, limits, key, state, NULL, "\n");
}


static int
ctl_status_print_json(const json_t *status)
{
    char  *text;

    text = ctl_json_dump(status);
    if (text == NULL) {
        fprintf(stderr, "flashctl: out of memory\n");
        return CTL_NO_RESPONSE;
    }

    printf("%s\n", text);
    free(text);

    return CTL_OK;
}


int
ctl_status_run(const ctl_options_t *options)
{
    int        code;
    json_t    *status;
    unsigned   keys;

    status = ctl_status_fetch(options, &code);
    if (status == NULL) {
        return code;
    }

    if (options->json) {
        code = ctl_status_print_json(status);

    } else {
        keys = 0;
        code = ctl_status_each(options, status, ctl_status_print_key, &keys)
               ? CTL_OK : CTL_REFUSED;

        if (code == CTL_OK && keys == 0) {
            printf("no keys: no requests yet\n");
        }
    }

    json_decref(status);

    return code;
}
