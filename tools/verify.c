
/*
 * flash-verify: whether a sale's pre-queue was let in in the order that was
 * drawn.  docs/verify.md says what that proves.
 */

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/sha.h>
#include "ft_opening.h"
#include "ft_rfc3339.h"
#include "ft_zone.h"
#include "verify_order.h"


#define FT_VERIFY_SLACK_S  5.0
#define FT_SECRET_MAX      65536

/* below it two orders agree no better than by chance */
#define FT_VERIFY_TAU_OF_CHANCE  0.2


enum {
    FT_OPT_SECRET = 256,
    FT_OPT_ZONE,
    FT_OPT_KEY,
    FT_OPT_OPENS,
    FT_OPT_OPENED,
    FT_OPT_SLACK,
    FT_OPT_ONLY,
    FT_OPT_JSON,
    FT_OPT_LIST
};


typedef struct {
    const char   *secret;
    const char   *zone;
    const char   *key;
    const char   *only;
    const char   *log;
    uint64_t      opens_ms;
    uint64_t      opened_ms;
    double        slack_s;
    bool          json;
    bool          list;
} ft_verify_options_t;

/* The secret that draws, and what may be published of it before. */
typedef struct {
    char          text[FT_SECRET_MAX];
    size_t        len;
    char          sha256[2 * SHA256_DIGEST_LENGTH + 1];
} ft_verify_secret_t;


static const struct argp_option  ft_verify_option_list[] = {
    { "secret", FT_OPT_SECRET, "FILE", 0,
      "the file of flash_throttle_secret_file; its last secret draws", 0 },
    { "zone", FT_OPT_ZONE, "NAME", 0, "the zone, as in zone=NAME:size", 0 },
    { "key", FT_OPT_KEY, "VALUE", 0, "the value of the zone's key", 0 },
    { "opens", FT_OPT_OPENS, "TIME", 0,
      "as in flash_throttle_opens (RFC 3339)", 0 },
    { "opened", FT_OPT_OPENED, "TIME", 0,
      "when it was opened by hand before that", 0 },
    { "slack", FT_OPT_SLACK, "S", 0,
      "who asks and has to wait is wronged if somebody behind was let in more "
      "than S seconds before (5)", 0 },
    { "only", FT_OPT_ONLY, "NAME=VALUE", 0,
      "of the log only lines with this pair, as in host=shop.example", 0 },
    { "list", FT_OPT_LIST, NULL, 0,
      "one shopper a line: place, id, first attempt, admission", 0 },
    { "json", FT_OPT_JSON, NULL, 0, "JSON instead of a table", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static uint64_t
ft_verify_option_time(struct argp_state *state, const char *name,
    const char *text)
{
    uint64_t  ms;

    if (!ft_rfc3339_read(text, strlen(text), &ms)) {
        argp_error(state, "--%s takes a time such as 2026-11-27T12:00:00Z or "
                   "2026-11-27T12:00:00.5+01:00, not \"%s\"", name, text);
    }

    return ms;
}


static void
ft_verify_check(const ft_verify_options_t *options, struct argp_state *state)
{
    if (options->secret == NULL) {
        argp_error(state, "--secret is needed: the file of "
                   "flash_throttle_secret_file");
    }

    if (options->log == NULL) {
        return;
    }

    if (options->zone == NULL || options->key == NULL
        || options->opens_ms == 0)
    {
        argp_error(state, "--zone, --key and --opens are needed with a log: the "
                   "places are computed from them");
    }

    if (options->opened_ms > options->opens_ms) {
        argp_error(state, "--opened is for a sale that was opened by hand "
                   "before --opens");
    }

    if (strlen(options->zone) > UINT16_MAX || strlen(options->key) > FT_KEY_MAX)
    {
        argp_error(state, "--key takes up to %d bytes; of a longer value nginx "
                   "uses a digest", FT_KEY_MAX);
    }
}


static error_t
ft_verify_option(int key, char *text, struct argp_state *state)
{
    char                 *end;
    ft_verify_options_t  *options;

    options = state->input;

    switch (key) {

    case FT_OPT_SECRET:
        options->secret = text;
        return 0;

    case FT_OPT_ZONE:
        options->zone = text;
        return 0;

    case FT_OPT_KEY:
        options->key = text;
        return 0;

    case FT_OPT_OPENS:
        options->opens_ms = ft_verify_option_time(state, "opens", text);
        return 0;

    case FT_OPT_OPENED:
        options->opened_ms = ft_verify_option_time(state, "opened", text);
        return 0;

    case FT_OPT_SLACK:
        options->slack_s = strtod(text, &end);

        if (end == text || *end != '\0' || !(options->slack_s >= 0)
            || options->slack_s > 86400)
        {
            argp_error(state, "--slack takes seconds, 0 to 86400, not \"%s\"",
                       text);
        }

        return 0;

    case FT_OPT_ONLY:
        if (strchr(text, '=') == NULL || strchr(text, ' ') != NULL) {
            argp_error(state, "--only takes a pair as it stands in the log, "
                       "such as host=shop.example, not \"%s\"", text);
        }

        options->only = text;
        return 0;

    case FT_OPT_LIST:
        options->list = true;
        return 0;

    case FT_OPT_JSON:
        options->json = true;
        return 0;

    case ARGP_KEY_ARG:
        if (options->log != NULL) {
            argp_error(state, "one log, please, or - for the standard input");
        }

        options->log = text;
        return 0;

    case ARGP_KEY_END:
        ft_verify_check(options, state);
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static void
ft_verify_die(const char *name, const char *why)
{
    fprintf(stderr, "flash-verify: %s: %s\n", name, why);
    exit(2);
}


static FILE *
ft_verify_open(const char *name)
{
    FILE  *file;

    if (strcmp(name, "-") == 0) {
        return stdin;
    }

    file = fopen(name, "r");
    if (file == NULL) {
        ft_verify_die(name, strerror(errno));
    }

    return file;
}


/* As nginx reads it: a secret a line, blanks around it and # lines left out. */
static void
ft_verify_read_secret(ft_verify_secret_t *secret, const char *name)
{
    char           *text, *p;
    FILE           *file;
    size_t          size, i;
    ssize_t         len;
    unsigned char   digest[SHA256_DIGEST_LENGTH];

    file = ft_verify_open(name);
    text = NULL;
    size = 0;
    secret->len = 0;

    while ((len = getline(&text, &size, file)) >= 0) {

        while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL) {
            len--;
        }

        p = text;

        if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
            p += 3;
            len -= 3;
        }

        while (len > 0 && (*p == ' ' || *p == '\t')) {
            p++;
            len--;
        }

        if (len == 0 || *p == '#') {
            continue;
        }

        if (len < FT_SECRET_MIN_LEN || len > FT_SECRET_MAX) {
            ft_verify_die(name, "has a line that is no secret: one has 16 "
                          "characters or more");
        }

        secret->len = (size_t) len;
        memcpy(secret->text, p, secret->len);
    }

    free(text);

    if (ferror(file)) {
        ft_verify_die(name, strerror(errno));
    }

    if (secret->len == 0) {
        ft_verify_die(name, "has no secret");
    }

    fclose(file);

    SHA256((unsigned char *) secret->text, secret->len, digest);

    for (i = 0; i < sizeof(digest); i++) {
        sprintf(secret->sha256 + 2 * i, "%02x", digest[i]);
    }
}


/* Where everybody stands, as ft_opening_timestamp_us() has it. */
static void
ft_verify_draw(const ft_verify_options_t *options,
    const ft_verify_secret_t *secret, ft_verify_log_t *log)
{
    size_t                i;
    uint64_t              draw, shift_us, opened_us;
    ft_secret_t           drawing;
    ft_keyring_t         *ring;
    ft_verify_shopper_t  *s;
    ft_ticket_context_t   context = {
        .zone = options->zone,
        .zone_len = strlen(options->zone),
        .key = options->key,
        .key_len = strlen(options->key)
    };

    drawing = (ft_secret_t) { secret->text, secret->len };
    ring = ft_keyring_create(&drawing, 1);

    if (ring == NULL) {
        ft_verify_die(options->secret, "no memory for its key");
    }

    opened_us = options->opened_ms * 1000;
    shift_us = options->opens_ms * 1000 - opened_us;

    for (i = 0; i < log->n; i++) {
        s = &log->shoppers[i];

        if ((uint64_t) s->first_us >= opened_us) {
            s->place = (uint64_t) s->first_us + shift_us;
            continue;
        }

        draw = ft_ticket_shuffle(ring, &context, options->opens_ms, s->id);
        s->place = (options->opens_ms - FT_OPENING_SPAN_MS) * 1000
                   + ft_ticket_scale(draw, FT_OPENING_SPAN_MS * 1000);
    }

    ft_keyring_free(ring);
}


static int
ft_verify_by_place(const void *a, const void *b)
{
    const ft_verify_shopper_t  *x, *y;

    x = *(const ft_verify_shopper_t *const *) a;
    y = *(const ft_verify_shopper_t *const *) b;

    return (x->place > y->place) - (x->place < y->place);
}


static void
ft_verify_list(const ft_verify_options_t *options, const ft_verify_log_t *log)
{
    size_t                       i, n;
    const ft_verify_shopper_t  **list;

    list = calloc(log->n + 1, sizeof(ft_verify_shopper_t *));
    if (list == NULL) {
        ft_verify_die(options->log, "no memory");
    }

    n = 0;

    for (i = 0; i < log->n; i++) {
        if (log->shoppers[i].place < options->opens_ms * 1000) {
            list[n++] = &log->shoppers[i];
        }
    }

    qsort(list, n, sizeof(ft_verify_shopper_t *), ft_verify_by_place);

    for (i = 0; i < n; i++) {
        printf("%zu\t%016llx\t%.3f\t", i + 1, (unsigned long long) list[i]->id,
               (double) list[i]->first_us / 1e6);

        if (list[i]->admitted_us >= 0) {
            printf("%.3f\n", (double) list[i]->admitted_us / 1e6);
        } else {
            printf("-\n");
        }
    }

    free(list);
}


static void
ft_verify_print(const ft_verify_options_t *options,
    const ft_verify_secret_t *secret, const ft_verify_log_t *log,
    const ft_verify_order_t *order, bool kept)
{
    printf("SHA-256 of the secret       %s\n", secret->sha256);
    printf("lines read                  %10llu\n",
           (unsigned long long) log->lines);
    printf("in the pre-queue            %10zu\n", order->shoppers);
    printf("checked: of these admitted  %10zu\n", order->admitted);
    printf("who came later              %10zu\n", order->later);
    printf("admitted before the opening %10zu\n", order->early);
    printf("inversions                  %10zu\n", order->inversions);
    printf("worst inversion, places     %10zu\n", order->worst_places);
    printf("worst inversion, s          %10.3f\n", order->worst_s);

    if (isnan(order->kendall_tau)) {
        printf("Kendall's tau                        -\n");
    } else {
        printf("Kendall's tau               %10.4f\n", order->kendall_tau);
    }

    printf("passed over                 %10zu\n", order->passed_over);

    if (order->passed_over) {
        printf("worst of these, s           %10.3f   id %016llx\n",
               order->worst_passed_s, (unsigned long long) order->worst_id);
    }

    if (log->broken) {
        printf("lines without what is needed%10llu\n",
               (unsigned long long) log->broken);
    }

    printf("\n%s (slack %g s)\n",
           kept ? "admitted in the order that was drawn"
                : "NOT admitted in the order that was drawn",
           options->slack_s);

    if (!kept && fabs(order->kendall_tau) < FT_VERIFY_TAU_OF_CHANCE) {
        printf("The order has next to nothing to do with the places: are the "
               "secret, --zone, --key\nand --opens those that nginx had?\n");
    }
}


static void
ft_verify_print_json(const ft_verify_secret_t *secret,
    const ft_verify_log_t *log, const ft_verify_order_t *order, bool kept)
{
    printf("{\"secret_sha256\":\"%s\",\"lines\":%llu,\"broken\":%llu,"
           "\"prequeue\":%zu,\"checked\":%zu,\"later\":%zu,\"early\":%zu,"
           "\"inversions\":%zu,\"worst_inversion_places\":%zu,"
           "\"worst_inversion_s\":%.3f,",
           secret->sha256, (unsigned long long) log->lines,
           (unsigned long long) log->broken, order->shoppers, order->admitted,
           order->later, order->early, order->inversions, order->worst_places,
           order->worst_s);

    if (isnan(order->kendall_tau)) {
        printf("\"kendall_tau\":null,");
    } else {
        printf("\"kendall_tau\":%.6f,", order->kendall_tau);
    }

    printf("\"passed_over\":%zu,\"worst_passed_over_s\":%.3f,\"kept\":%s}\n",
           order->passed_over, order->worst_passed_s, kept ? "true" : "false");
}


static int
ft_verify(const ft_verify_options_t *options, const ft_verify_secret_t *secret)
{
    bool               kept;
    FILE              *file;
    ft_verify_log_t    log;
    ft_verify_order_t  order;

    file = ft_verify_open(options->log);

    errno = 0;

    if (!ft_verify_read(&log, file, options->only)) {
        ft_verify_die(options->log, errno ? strerror(errno) : "no memory");
    }

    ft_verify_draw(options, secret, &log);

    if (options->list) {
        ft_verify_list(options, &log);
        ft_verify_free(&log);
        return 0;
    }

    if (!ft_verify_order(&order, &log, options->opens_ms * 1000,
                         (int64_t) options->opened_ms * 1000,
                         llround(options->slack_s * 1e6)))
    {
        ft_verify_die(options->log, "no memory");
    }

    if (order.admitted == 0) {
        ft_verify_die(options->log, "nobody of the pre-queue was admitted in "
                      "it: is it the log of this sale, as docs/log.md has it, "
                      "and --opens right?");
    }

    kept = order.early == 0 && order.passed_over == 0;

    if (options->json) {
        ft_verify_print_json(secret, &log, &order, kept);
    } else {
        ft_verify_print(options, secret, &log, &order, kept);
    }

    ft_verify_free(&log);

    return kept ? 0 : 1;
}


int
main(int argc, char **argv)
{
    ft_verify_options_t        options;

    static ft_verify_secret_t  secret;
    static const struct argp   argp = {
        .options = ft_verify_option_list,
        .parser = ft_verify_option,
        .args_doc = "[LOG]",
        .doc = "Computes the places of a sale's pre-queue from the secret, and "
               "says whether the access log LOG (- for the standard input) "
               "shows that they were let in in that order.  Without LOG it "
               "prints the secret's SHA-256, to be published before the sale."
               "\vExit status: 0 in order, 1 not in order, 2 it could not be "
               "checked."
    };

    memset(&options, 0, sizeof(options));
    options.slack_s = FT_VERIFY_SLACK_S;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);

    if (options.opened_ms == 0) {
        options.opened_ms = options.opens_ms;
    }

    ft_verify_read_secret(&secret, options.secret);

    if (options.log == NULL) {
        printf("%s\n", secret.sha256);
        return 0;
    }

    return ft_verify(&options, &secret);
}
