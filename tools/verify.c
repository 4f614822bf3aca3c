
/*
 * flash-verify: checks that a pre-queue was admitted in its shuffled order.
 * docs/verify.md describes what that proves.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <argp.h>
#include <openssl/sha.h>
#include "ft_opening.h"
#include "ft_rfc3339.h"
#include "ft_zone.h"
#include "option.h"
#include "verify_order.h"


#define VERIFY_SLACK_S     5.0
#define VERIFY_SECRET_MAX  65536

/* below this Kendall's tau the two orders are unrelated */
#define VERIFY_TAU_MIN     0.2


enum {
    VERIFY_OPT_SECRET = 256,
    VERIFY_OPT_ZONE,
    VERIFY_OPT_KEY,
    VERIFY_OPT_OPENS,
    VERIFY_OPT_OPENED,
    VERIFY_OPT_SLACK,
    VERIFY_OPT_ONLY,
    VERIFY_OPT_JSON,
    VERIFY_OPT_LIST
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
} verify_options_t;

typedef struct {
    char          text[VERIFY_SECRET_MAX];
    size_t        len;
    char          sha256[2 * SHA256_DIGEST_LENGTH + 1];     /* to publish */
} verify_secret_t;


static const struct argp_option  verify_option_list[] = {
    { "secret", VERIFY_OPT_SECRET, "FILE", 0,
      "file of flash_throttle_secret_file; its last secret determines the "
      "shuffle", 0 },
    { "zone", VERIFY_OPT_ZONE, "NAME", 0, "zone, as in zone=NAME:size", 0 },
    { "key", VERIFY_OPT_KEY, "VALUE", 0, "value of the zone's key", 0 },
    { "opens", VERIFY_OPT_OPENS, "TIME", 0,
      "opening time, as in flash_throttle_opens (RFC 3339)", 0 },
    { "opened", VERIFY_OPT_OPENED, "TIME", 0,
      "actual time, if the operator opened the sale earlier", 0 },
    { "slack", VERIFY_OPT_SLACK, "SECONDS", 0,
      "a shopper is passed over if queued more than SECONDS after the "
      "admission of a later place [5]", 0 },
    { "only", VERIFY_OPT_ONLY, "NAME=VALUE", 0,
      "read only log lines with this pair: host=shop.example", 0 },
    { "list", VERIFY_OPT_LIST, NULL, 0,
      "print a line per shopper: place, id, first attempt, admission", 0 },
    { "json", VERIFY_OPT_JSON, NULL, 0, "print JSON instead of a table", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static uint64_t
verify_parse_time(struct argp_state *state, const char *name,
    const char *text)
{
    uint64_t  ms;

    if (!ft_rfc3339_read(text, strlen(text), &ms)) {
        argp_error(state, "invalid value \"%s\" for --%s: expected a time as "
                   "2026-11-27T12:00:00Z or 2026-11-27T12:00:00.5+01:00", text,
                   name);
    }

    return ms;
}


static void
verify_check_options(const verify_options_t *options, struct argp_state *state)
{
    if (options->secret == NULL) {
        argp_error(state, "missing --secret");
    }

    if (options->log == NULL) {
        return;
    }

    if (options->zone == NULL || options->key == NULL
        || options->opens_ms == 0)
    {
        argp_error(state, "LOG requires --zone, --key and --opens");
    }

    if (options->opened_ms > options->opens_ms) {
        argp_error(state, "--opened is later than --opens");
    }

    if (strlen(options->zone) > UINT16_MAX) {
        argp_error(state, "--zone is longer than %d bytes", UINT16_MAX);
    }

    /* nginx replaces longer values with a digest */

    if (strlen(options->key) > FT_KEY_MAX) {
        argp_error(state, "--key is longer than %d bytes", FT_KEY_MAX);
    }
}


static error_t
verify_parse_option(int key, char *text, struct argp_state *state)
{
    verify_options_t  *options;

    options = state->input;

    switch (key) {

    case VERIFY_OPT_SECRET:
        options->secret = text;
        return 0;

    case VERIFY_OPT_ZONE:
        options->zone = text;
        return 0;

    case VERIFY_OPT_KEY:
        options->key = text;
        return 0;

    case VERIFY_OPT_OPENS:
        options->opens_ms = verify_parse_time(state, "opens", text);
        return 0;

    case VERIFY_OPT_OPENED:
        options->opened_ms = verify_parse_time(state, "opened", text);
        return 0;

    case VERIFY_OPT_SLACK:
        options->slack_s = option_number(state, "slack", text, 0, 86400);
        return 0;

    case VERIFY_OPT_ONLY:
        if (strchr(text, '=') == NULL || strchr(text, ' ') != NULL) {
            argp_error(state, "invalid value \"%s\" for --only: expected "
                       "NAME=VALUE", text);
        }

        options->only = text;
        return 0;

    case VERIFY_OPT_LIST:
        options->list = true;
        return 0;

    case VERIFY_OPT_JSON:
        options->json = true;
        return 0;

    case ARGP_KEY_ARG:
        if (options->log != NULL) {
            argp_error(state, "unexpected argument \"%s\" after \"%s\"", text,
                       options->log);
        }

        options->log = text;
        return 0;

    case ARGP_KEY_END:
        verify_check_options(options, state);
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static void
verify_io_error(const char *call, const char *name)
{
    fprintf(stderr, "flash-verify: %s \"%s\" failed (%d: %s)\n", call, name,
            errno, strerror(errno));
    exit(2);
}


static void
verify_out_of_memory(void)
{
    fprintf(stderr, "flash-verify: out of memory\n");
    exit(2);
}


static FILE *
verify_open(const char *name)
{
    FILE  *file;

    if (strcmp(name, "-") == 0) {
        return stdin;
    }

    file = fopen(name, "r");
    if (file == NULL) {
        verify_io_error("open()", name);
    }

    return file;
}


/* The last secret of the file, read as nginx does: one a line, # comments. */
static void
verify_read_secret(verify_secret_t *secret, const char *name)
{
    char           *text, *p;
    FILE           *file;
    size_t          size, i;
    ssize_t         len;
    unsigned        line;
    unsigned char   digest[SHA256_DIGEST_LENGTH];

    file = verify_open(name);
    text = NULL;
    size = 0;
    line = 0;
    secret->len = 0;

    while ((len = getline(&text, &size, file)) >= 0) {
        line++;

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

        if (len < FT_SECRET_MIN_LEN || len > VERIFY_SECRET_MAX) {
            fprintf(stderr, "flash-verify: secret of %zd bytes in \"%s\", line "
                    "%u: expected %d to %d\n", len, name, line,
                    FT_SECRET_MIN_LEN, VERIFY_SECRET_MAX);
            exit(2);
        }

        secret->len = (size_t) len;
        memcpy(secret->text, p, secret->len);
    }

    free(text);

    if (ferror(file)) {
        verify_io_error("read()", name);
    }

    if (secret->len == 0) {
        fprintf(stderr, "flash-verify: no secret in \"%s\"\n", name);
        exit(2);
    }

    fclose(file);

    SHA256((unsigned char *) secret->text, secret->len, digest);

    for (i = 0; i < sizeof(digest); i++) {
        sprintf(secret->sha256 + 2 * i, "%02x", digest[i]);
    }
}


/* Computes the places in line as ft_opening_timestamp_us() does. */
static void
verify_set_places(const verify_options_t *options,
    const verify_secret_t *secret, verify_log_t *log)
{
    size_t                 i;
    uint64_t               draw, shift_us, opened_us;
    ft_secret_t            seed;
    ft_keyring_t          *ring;
    verify_log_shopper_t  *s;
    ft_ticket_context_t    context = {
        .zone = options->zone,
        .zone_len = strlen(options->zone),
        .key = options->key,
        .key_len = strlen(options->key)
    };

    seed = (ft_secret_t) { secret->text, secret->len };
    ring = ft_keyring_create(&seed, 1);

    if (ring == NULL) {
        verify_out_of_memory();
    }

    opened_us = options->opened_ms * 1000;
    shift_us = options->opens_ms * 1000 - opened_us;

    for (i = 0; i < log->nshoppers; i++) {
        s = &log->shoppers[i];

        if ((uint64_t) s->first_us >= opened_us) {
            s->place_us = (uint64_t) s->first_us + shift_us;
            continue;
        }

        draw = ft_ticket_shuffle(ring, &context, options->opens_ms, s->id);
        s->place_us = (options->opens_ms - FT_OPENING_SPAN_MS) * 1000
                   + ft_ticket_scale(draw, FT_OPENING_SPAN_MS * 1000);
    }

    ft_keyring_free(ring);
}


static int
verify_by_place(const void *a, const void *b)
{
    const verify_log_shopper_t  *x, *y;

    x = *(const verify_log_shopper_t *const *) a;
    y = *(const verify_log_shopper_t *const *) b;

    return (x->place_us > y->place_us) - (x->place_us < y->place_us);
}


static void
verify_print_list(const verify_options_t *options, const verify_log_t *log)
{
    size_t                        i, n;
    const verify_log_shopper_t  **list;

    list = calloc(log->nshoppers + 1, sizeof(verify_log_shopper_t *));
    if (list == NULL) {
        verify_out_of_memory();
    }

    n = 0;

    for (i = 0; i < log->nshoppers; i++) {
        if (log->shoppers[i].place_us < options->opens_ms * 1000) {
            list[n++] = &log->shoppers[i];
        }
    }

    qsort(list, n, sizeof(verify_log_shopper_t *), verify_by_place);

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
verify_print_table(const verify_options_t *options,
    const verify_secret_t *secret, const verify_log_t *log,
    const verify_order_t *order, bool kept)
{
    printf("SHA-256 of the secret       %s\n", secret->sha256);
    printf("lines read                  %10llu\n",
           (unsigned long long) log->lines);
    printf("shoppers in the pre-queue   %10zu\n", order->prequeue);
    printf("admitted from the pre-queue %10zu\n", order->admitted);
    printf("shoppers after the opening  %10zu\n", order->later);
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

    if (order->passed_over > 0) {
        printf("longest passed over, s      %10.3f   id %016llx\n",
               order->worst_passed_over_s,
               (unsigned long long) order->worst_id);
    }

    if (log->incomplete > 0) {
        printf("incomplete lines            %10llu\n",
               (unsigned long long) log->incomplete);
    }

    printf("\n%s (slack %g s)\n",
           kept ? "admitted in the shuffled order"
                : "NOT admitted in the shuffled order",
           options->slack_s);

    if (!kept && fabs(order->kendall_tau) < VERIFY_TAU_MIN) {
        printf("The orders are unrelated: check --secret, --zone, --key and "
               "--opens.\n");
    }
}


static void
verify_print_json(const verify_secret_t *secret, const verify_log_t *log,
    const verify_order_t *order, bool kept)
{
    printf("{\"secret_sha256\":\"%s\",\"lines\":%llu,\"broken\":%llu,"
           "\"prequeue\":%zu,\"checked\":%zu,\"later\":%zu,\"early\":%zu,"
           "\"inversions\":%zu,\"worst_inversion_places\":%zu,"
           "\"worst_inversion_s\":%.3f,",
           secret->sha256, (unsigned long long) log->lines,
           (unsigned long long) log->incomplete, order->prequeue,
           order->admitted, order->later, order->early, order->inversions,
           order->worst_places, order->worst_s);

    if (isnan(order->kendall_tau)) {
        printf("\"kendall_tau\":null,");
    } else {
        printf("\"kendall_tau\":%.6f,", order->kendall_tau);
    }

    printf("\"passed_over\":%zu,\"worst_passed_over_s\":%.3f,\"kept\":%s}\n",
           order->passed_over, order->worst_passed_over_s,
           kept ? "true" : "false");
}


static int
verify_run(const verify_options_t *options, const verify_secret_t *secret)
{
    bool             kept;
    FILE            *file;
    verify_log_t     log;
    verify_order_t   order;

    file = verify_open(options->log);

    if (!verify_log_read(&log, file, options->only)) {
        verify_io_error("read()", options->log);
    }

    verify_set_places(options, secret, &log);

    if (options->list) {
        verify_print_list(options, &log);
        verify_log_free(&log);
        return 0;
    }

    if (!verify_order_check(&order, &log, options->opens_ms * 1000,
                            (int64_t) options->opened_ms * 1000,
                            llround(options->slack_s * 1e6)))
    {
        verify_out_of_memory();
    }

    if (order.admitted == 0) {
        fprintf(stderr, "flash-verify: no admissions from the pre-queue in "
                "\"%s\"\n", options->log);
        exit(2);
    }

    kept = order.early == 0 && order.passed_over == 0;

    if (options->json) {
        verify_print_json(secret, &log, &order, kept);
    } else {
        verify_print_table(options, secret, &log, &order, kept);
    }

    verify_log_free(&log);

    return kept ? 0 : 1;
}


int
main(int argc, char **argv)
{
    verify_options_t          options;

    static verify_secret_t    secret;
    static const struct argp  argp = {
        .options = verify_option_list,
        .parser = verify_parse_option,
        .args_doc = "[LOG]",
        .doc = "Computes the shuffled order of a pre-queue from the secret and "
               "checks that the access log LOG (- for standard input) shows "
               "admissions in that order.  Without LOG, prints the SHA-256 of "
               "the secret, to publish before the sale."
               "\vExit status: 0 if the order was kept, 1 if not, 2 on error."
    };

    memset(&options, 0, sizeof(options));
    options.slack_s = VERIFY_SLACK_S;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);

    if (options.opened_ms == 0) {
        options.opened_ms = options.opens_ms;
    }

    verify_read_secret(&secret, options.secret);

    if (options.log == NULL) {
        printf("%s\n", secret.sha256);
        return 0;
    }

    return verify_run(&options, &secret);
}
