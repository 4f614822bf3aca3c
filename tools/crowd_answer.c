
#include "crowd_answer.h"

#include <string.h>

#include <jansson.h>


#define FT_ANSWER_RETRY_MS      1000    /* where the answer says nothing */
#define FT_ANSWER_RETRY_MIN_MS  10      /* no crowd is told to come at once */


typedef struct {
    const char  *word;
    ft_told_t    told;
} ft_answer_meaning_t;

typedef struct {
    long         status;
    ft_told_t    told;
} ft_answer_code_t;


/* "status" in the JSON of the edge, and of the checkout */
static const ft_answer_meaning_t  ft_answer_words[] = {
    { "queued", FT_TOLD_WAIT },
    { "closed", FT_TOLD_WAIT },
    { "rejected", FT_TOLD_WAIT },
    { "busy", FT_TOLD_WAIT },
    { "closing", FT_TOLD_WAIT },
    { "admitted", FT_TOLD_ADMITTED },
    { "confirmed", FT_TOLD_SERVED },
    { "declined", FT_TOLD_DECLINED },
    { "sold_out", FT_TOLD_SOLD_OUT },
    { "too_late", FT_TOLD_TOO_LATE },
};

/* a checkout that answers without JSON, or in words of its own */
static const ft_answer_code_t  ft_answer_codes[] = {
    { 200, FT_TOLD_SERVED },
    { 402, FT_TOLD_DECLINED },
    { 409, FT_TOLD_SOLD_OUT },
    { 429, FT_TOLD_WAIT },
    { 503, FT_TOLD_WAIT },
};


#define FT_ANSWER_WORDS  (sizeof(ft_answer_words) / sizeof(ft_answer_words[0]))
#define FT_ANSWER_CODES  (sizeof(ft_answer_codes) / sizeof(ft_answer_codes[0]))


static ft_told_t
ft_answer_by_code(long status)
{
    size_t  i;

    for (i = 0; i < FT_ANSWER_CODES; i++) {
        if (ft_answer_codes[i].status == status) {
            return ft_answer_codes[i].told;
        }
    }

    return FT_TOLD_NOTHING;
}


static bool
ft_answer_by_word(const char *word, ft_told_t *told)
{
    size_t  i;

    for (i = 0; i < FT_ANSWER_WORDS; i++) {
        if (strcmp(word, ft_answer_words[i].word) == 0) {
            *told = ft_answer_words[i].told;
            return true;
        }
    }

    return false;
}


static json_t *
ft_answer_json(const ft_request_t *request)
{
    if (request->body == NULL || request->type == NULL
        || strncmp(request->type, "application/json", 16) != 0)
    {
        return NULL;
    }

    return json_loadb(request->body, request->len, 0, NULL);
}


ft_answer_word_t
ft_answer_read(const ft_request_t *request, bool poll)
{
    json_t            *json;
    const char        *text;
    ft_answer_word_t   word;

    word.retry_ms = request->retry_after_s * 1000;
    word.coarse = true;
    word.first_attempt_ms = 0;
    word.told = ft_answer_by_code(request->status);

    json = ft_answer_json(request);

    /* jansson's getters take NULL for an object without that member */
    text = json_string_value(json_object_get(json, "status"));

    if (text != NULL && ft_answer_by_word(text, &word.told)) {
        word.first_attempt_ms =
            json_integer_value(json_object_get(json, "first_attempt_ms"));

        if (json_object_get(json, "retry_ms") != NULL) {
            word.retry_ms = json_integer_value(json_object_get(json,
                                                               "retry_ms"));
            word.coarse = false;
        }
    }

    json_decref(json);

    /* the page itself: nothing throttles this place */
    if (poll && word.told == FT_TOLD_SERVED) {
        word.told = FT_TOLD_ADMITTED;
    }

    if (word.retry_ms == 0) {
        word.retry_ms = FT_ANSWER_RETRY_MS;

    } else if (word.retry_ms < FT_ANSWER_RETRY_MIN_MS) {
        word.retry_ms = FT_ANSWER_RETRY_MIN_MS;
    }

    return word;
}
