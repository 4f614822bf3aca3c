
/*
 * flashctl's requests, by libcurl.
 */

#include "ctl.h"

#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>


#define FT_CTL_TIMEOUT_MS  5000L
#define FT_CTL_ANSWER_MAX  (64 * 1024 * 1024)


static size_t
ft_ctl_receive(char *data, size_t size, size_t n, void *user)
{
    char             *text;
    ft_ctl_answer_t  *answer;

    answer = user;
    n *= size;

    if (n > FT_CTL_ANSWER_MAX - answer->len) {
        return 0;
    }

    text = realloc(answer->text, answer->len + n + 1);

    if (text == NULL) {
        return 0;
    }

    memcpy(text + answer->len, data, n);
    answer->text = text;
    answer->len += n;
    text[answer->len] = '\0';

    return n;
}


static char *
ft_ctl_url(const char *base, const char *name)
{
    char    *url;
    size_t   len;

    len = strlen(base);

    while (len && base[len - 1] == '/') {
        len--;
    }

    url = malloc(len + 1 + strlen(name) + 1);

    if (url) {
        sprintf(url, "%.*s/%s", (int) len, base, name);
    }

    return url;
}


static CURLcode
ft_ctl_perform(CURL *curl, const ft_ctl_options_t *options, const char *body,
    ft_ctl_answer_t *answer)
{
    CURLcode            code;
    struct curl_slist  *headers;

    headers = curl_slist_append(NULL, "Accept: application/json");

    if (body) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        headers = curl_slist_append(headers, "Expect:");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }

    if (options->socket) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, options->socket);
    }

    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "flashctl");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, FT_CTL_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long) CURL_NETRC_OPTIONAL);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ft_ctl_receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);

    code = curl_easy_perform(curl);

    curl_slist_free_all(headers);

    return code;
}


bool
ft_ctl_ask(const ft_ctl_options_t *options, const char *name,
    const char *body, ft_ctl_answer_t *answer)
{
    CURL      *curl;
    char      *url;
    CURLcode   code;

    memset(answer, 0, sizeof(ft_ctl_answer_t));

    curl = curl_easy_init();
    url = ft_ctl_url(options->url, name);

    if (curl == NULL || url == NULL) {
        curl_easy_cleanup(curl);
        free(url);
        return false;
    }

    curl_easy_setopt(curl, CURLOPT_URL, url);
    code = ft_ctl_perform(curl, options, body, answer);

    if (code == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);

        if (answer->text == NULL) {
            answer->text = strdup("");
        }

    } else {
        free(answer->text);
        answer->text = strdup(curl_easy_strerror(code));
    }

    curl_easy_cleanup(curl);
    free(url);

    return answer->text != NULL;
}


void
ft_ctl_free(ft_ctl_answer_t *answer)
{
    free(answer->text);
    answer->text = NULL;
}


int
ft_ctl_complain(const ft_ctl_options_t *options, const char *name,
    const ft_ctl_answer_t *answer)
{
    int          code;
    json_t      *json;
    const char  *error;

    fprintf(stderr, "flashctl: %s%s%s/%s: ",
            options->socket ? options->socket : "",
            options->socket ? ": " : "", options->url, name);

    if (answer->status == 0) {
        ft_ctl_print_text(stderr, answer->text);
        fprintf(stderr, "; is nginx there? --url says where its %s is\n", name);
        return FT_CTL_SILENT;
    }

    json = json_loads(answer->text, 0, NULL);
    error = json_string_value(json_object_get(json, "error"));

    code = FT_CTL_REFUSED;

    if (error) {
        ft_ctl_print_text(stderr, error);
        fprintf(stderr, "\n");

    } else if (answer->status == 401 || answer->status == 403) {
        fprintf(stderr, "%ld: not from here; \"allow\" and \"deny\" of that "
                "location say from where\n", answer->status);

    } else if (answer->status == 404) {
        fprintf(stderr, "404: there is no flash_throttle_%s; --url says where "
                "it is\n", name);
        code = FT_CTL_SILENT;

    } else {
        fprintf(stderr, "%ld, and not what flash_throttle_%s answers; --url "
                "says where it is\n", answer->status, name);
        code = FT_CTL_SILENT;
    }

    json_decref(json);

    return code;
}
