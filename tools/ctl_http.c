
#include "ctl_http.h"
#include "ctl_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <jansson.h>


#define CTL_HTTP_TIMEOUT_MS  5000L
#define CTL_HTTP_LEN_MAX     (64 * 1024 * 1024)


static size_t
ctl_http_write(char *data, size_t size, size_t n, void *user)
{
    char                 *text;
    ctl_http_response_t  *response;

    response = user;
    n *= size;

    if (n > CTL_HTTP_LEN_MAX - response->len) {
        return 0;
    }

    text = realloc(response->text, response->len + n + 1);
    if (text == NULL) {
        return 0;
    }

    memcpy(text + response->len, data, n);
    response->text = text;
    response->len += n;
    text[response->len] = '\0';

    return n;
}


static char *
ctl_http_url(const char *base, const char *name)
{
    char    *url;
    size_t   len;

    len = strlen(base);

    while (len > 0 && base[len - 1] == '/') {
        len--;
    }

    url = malloc(len + 1 + strlen(name) + 1);

    if (url != NULL) {
        sprintf(url, "%.*s/%s", (int) len, base, name);
    }

    return url;
}


static CURLcode
ctl_http_perform(CURL *curl, const ctl_options_t *options, const char *body,
    ctl_http_response_t *response)
{
    CURLcode            code;
    struct curl_slist  *headers;

    headers = curl_slist_append(NULL, "Accept: application/json");

    if (body != NULL) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        headers = curl_slist_append(headers, "Expect:");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }

    if (options->socket != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, options->socket);
    }

    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "flashctl");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, CTL_HTTP_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long) CURL_NETRC_OPTIONAL);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ctl_http_write);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, response);

    code = curl_easy_perform(curl);

    curl_slist_free_all(headers);

    return code;
}


bool
ctl_http_request(const ctl_options_t *options, const char *name,
    const char *body, ctl_http_response_t *response)
{
    CURL      *curl;
    char      *url;
    CURLcode   code;

    memset(response, 0, sizeof(ctl_http_response_t));

    curl = curl_easy_init();
    url = ctl_http_url(options->url, name);

    if (curl == NULL || url == NULL) {
        curl_easy_cleanup(curl);
        free(url);
        return false;
    }

    curl_easy_setopt(curl, CURLOPT_URL, url);
    code = ctl_http_perform(curl, options, body, response);

    if (code == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &response->status);

        if (response->text == NULL) {
            response->text = strdup("");
        }

    } else {
        free(response->text);
        response->text = strdup(curl_easy_strerror(code));
    }

    curl_easy_cleanup(curl);
    free(url);

    return response->text != NULL;
}


void
ctl_http_free(ctl_http_response_t *response)
{
    free(response->text);
    response->text = NULL;
}


int
ctl_http_error(const ctl_options_t *options, const char *name,
    const ctl_http_response_t *response)
{
    int          code;
    char        *url;
    json_t      *json;
    const char  *error;

    url = ctl_http_url(options->url, name);
    fprintf(stderr, "flashctl: %s%s%s: ",
            options->socket ? options->socket : "",
            options->socket ? ": " : "", url ? url : name);
    free(url);

    if (response->status == 0) {
        ctl_print_text(stderr, response->text);
        fprintf(stderr, "\n");
        return CTL_NO_RESPONSE;
    }

    json = json_loads(response->text, 0, NULL);
    error = json_string_value(json_object_get(json, "error"));

    code = CTL_REFUSED;

    if (error != NULL) {
        ctl_print_text(stderr, error);
        fprintf(stderr, "\n");

    } else if (response->status == 401 || response->status == 403) {
        fprintf(stderr, "access denied (HTTP status %ld)\n", response->status);

    } else {
        fprintf(stderr, "not a flash_throttle_%s response (HTTP status %ld)\n",
                name, response->status);
        code = CTL_NO_RESPONSE;
    }

    json_decref(json);

    return code;
}
