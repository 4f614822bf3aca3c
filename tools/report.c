
/*
 * flash-report: fairness and volume of a sale, from nginx's access log.
 */

#include "access_log.h"
#include "fairness.h"
#include "report_plot.h"
#include "report_shoppers.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* longer than any line that nginx writes */
#define REPORT_LINE_MAX    (1024 * 1024)

#define REPORT_GZIP_MAGIC  0x1f


typedef struct {
    uint64_t            status[ACCESS_LOG_STATUSES];
    uint64_t            requests;
    uint64_t            dry_run;
    uint64_t            polls;
    uint64_t            pollers;        /* shoppers with at least one poll */
    uint64_t            queued;         /* shoppers */
    uint64_t            unrelated;      /* lines without a status */
    uint64_t            incomplete;     /* admissions without id or times */
    uint64_t            truncated;      /* lines */
    report_shoppers_t   shoppers;
    fairness_t          fairness;
} report_t;

typedef struct {
    const char        **logs;
    size_t              n;
    const char         *plot;
    bool                json;
} report_options_t;

typedef struct {
    const char         *name;
    const char         *label;
    double              value;
    int                 digits;
} report_row_t;


static const struct argp_option  report_option_list[] = {
    { "json", 'j', NULL, 0, "print JSON instead of a table", 0 },
    { "plot", 'p', "FILE", 0, "plot admissions against first attempts, and the "
      "waits, as SVG", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static void
report_out_of_memory(void)
{
    fprintf(stderr, "flash-report: out of memory\n");
    exit(2);
}


static void
report_io_error(const char *call, const char *name)
{
    fprintf(stderr, "flash-report: %s \"%s\" failed (%d: %s)\n", call, name,
            errno, strerror(errno));
    exit(2);
}


static void
report_add_admission(report_t *report, const access_log_line_t *line,
    report_shopper_t *shopper)
{
    if (line->first_us < 0 || line->waited_us < 0) {
        report->incomplete++;
        return;
    }

    /* the earliest admission of a shopper counts, whatever the logs' order */

    if (shopper->times.admitted_us < 0
        || line->first_us + line->waited_us < shopper->times.admitted_us)
    {
        shopper->times.first_us = line->first_us;
        shopper->times.admitted_us = line->first_us + line->waited_us;
    }
}


static void
report_add_line(report_t *report, const access_log_line_t *line)
{
    report_shopper_t  *shopper;

    report->requests++;
    report->status[line->status]++;
    report->dry_run += line->dry_run;

    switch (line->status) {

    case ACCESS_LOG_QUEUED:
    case ACCESS_LOG_ADMITTED:
    case ACCESS_LOG_REJECTED:
    case ACCESS_LOG_SOLD_OUT:
    case ACCESS_LOG_CLOSED:
        break;

    default:
        return;
    }

    if (line->id_hash == 0) {
        report->incomplete += (line->status == ACCESS_LOG_ADMITTED);
        return;
    }

    shopper = report_shoppers_get(&report->shoppers, line->id_hash);
    if (shopper == NULL) {
        report_out_of_memory();
        return;
    }

    if (line->status == ACCESS_LOG_CLOSED
        || line->status == ACCESS_LOG_SOLD_OUT)
    {
        return;
    }

    if (shopper->polls++ == 0) {
        report->pollers++;
    }

    report->polls++;

    if (line->status == ACCESS_LOG_QUEUED && !shopper->queued) {
        shopper->queued = true;
        report->queued++;
    }

    if (line->status == ACCESS_LOG_ADMITTED) {
        report_add_admission(report, line, shopper);
    }
}


static void
report_parse_line(report_t *report, const char *text, size_t len)
{
    access_log_line_t  line;

    switch (access_log_parse(&line, text, len)) {

    case ACCESS_LOG_COMPLETE:
        report_add_line(report, &line);
        break;

    case ACCESS_LOG_TORN:
        report->truncated++;
        break;

    case ACCESS_LOG_UNRELATED:
        report->unrelated++;
        break;
    }
}


/*
 * A last line without line end is still being written; a line of more than
 * REPORT_LINE_MAX is not nginx's.  Both count as truncated.
 */
static void
report_read(report_t *report, FILE *file, const char *name)
{
    bool     skip;
    char    *p, *end, *last;
    size_t   kept, n;

    static char  block[REPORT_LINE_MAX];

    kept = 0;
    skip = false;

    while ((n = fread(block + kept, 1, sizeof(block) - kept, file)) > 0) {
        p = block;
        last = block + kept + n;

        while ((end = memchr(p, '\n', (size_t) (last - p))) != NULL) {

            if (skip) {
                report->truncated++;
            } else {
                report_parse_line(report, p, (size_t) (end - p));
            }

            skip = false;
            p = end + 1;
        }

        kept = (size_t) (last - p);

        if (kept == sizeof(block)) {
            skip = true;
            kept = 0;
        }

        memmove(block, p, kept);
    }

    report->truncated += (kept > 0 || skip);

    if (ferror(file)) {
        report_io_error("read()", name);
    }
}


static void
report_write_plot(const report_t *report, const fairness_sample_t *samples,
    size_t n, const char *name)
{
    FILE  *out;

    out = fopen(name, "w");
    if (out == NULL) {
        report_io_error("open()", name);
        return;
    }

    if (!report_plot_write(out, samples, n, &report->fairness)) {
        report_out_of_memory();
    }

    if (fclose(out) != 0) {
        report_io_error("write()", name);
    }
}


static void
report_measure(report_t *report, const char *plot)
{
    size_t              i, n;
    report_shopper_t   *shopper;
    fairness_sample_t  *samples;

    samples = malloc((report->shoppers.n + 1) * sizeof(fairness_sample_t));
    if (samples == NULL) {
        report_out_of_memory();
        return;
    }

    n = 0;

    for (i = 0; i < report->shoppers.size; i++) {
        shopper = &report->shoppers.table[i];

        if (shopper->hash != 0 && shopper->times.admitted_us >= 0) {
            samples[n++] = shopper->times;
        }
    }

    if (!fairness_compute(samples, n, &report->fairness)) {
        report_out_of_memory();
    }

    if (plot != NULL) {
        report_write_plot(report, samples, n, plot);
    }

    free(samples);
}


static void
report_print_json(const report_row_t *rows, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        printf("%s\"%s\":", i == 0 ? "{" : ",\n", rows[i].name);

        if (isnan(rows[i].value)) {
            printf("null");
        } else {
            printf("%.*f", rows[i].digits, rows[i].value);
        }
    }

    printf("}\n");
}


static void
report_print_table(const report_row_t *rows, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (isnan(rows[i].value)) {
            printf("%-24s %12s\n", rows[i].label, "-");
        } else {
            printf("%-24s %12.*f\n", rows[i].label, rows[i].digits,
                   rows[i].value);
        }
    }
}


static void
report_print(const report_t *report, bool json)
{
    size_t             n;
    const uint64_t    *status;
    const fairness_t  *fairness;

    status = report->status;
    fairness = &report->fairness;

    const report_row_t  rows[] = {
        { "requests", "requests", (double) report->requests, 0 },
        { "other_lines", "other lines", (double) report->unrelated, 0 },
        { "cut_lines", "truncated lines", (double) report->truncated, 0 },
        { "dry_run", "dry run", (double) report->dry_run, 0 },
        { "passed", "passed", (double) status[ACCESS_LOG_PASSED], 0 },
        { "bypassed", "bypassed", (double) status[ACCESS_LOG_BYPASSED], 0 },
        { "rejected", "rejected", (double) status[ACCESS_LOG_REJECTED], 0 },
        { "sold_out", "sold out", (double) status[ACCESS_LOG_SOLD_OUT], 0 },
        { "closed", "closed", (double) status[ACCESS_LOG_CLOSED], 0 },
        { "shoppers", "shoppers", (double) report->shoppers.n, 0 },
        { "queued", "queued", (double) report->queued, 0 },
        { "admitted", "admitted", (double) fairness->admitted, 0 },
        { "polls_per_shopper", "polls per shopper",
          report->pollers > 0
              ? (double) report->polls / (double) report->pollers : NAN, 3 },
        { "wait_p50_s", "wait p50, s", fairness->wait_p50_s, 3 },
        { "wait_p95_s", "wait p95, s", fairness->wait_p95_s, 3 },
        { "wait_spread_s", "wait spread, s", fairness->wait_spread_s, 3 },
        { "overtaken", "overtaken", fairness->overtaken, 5 },
        { "kendall_tau", "Kendall's tau", fairness->kendall_tau, 5 },
        { "worst_inversion_s", "worst inversion, s",
          fairness->worst_inversion_s, 3 },
    };

    n = sizeof(rows) / sizeof(rows[0]);

    if (json) {
        report_print_json(rows, n);
        return;
    }

    report_print_table(rows, n);

    if (status[ACCESS_LOG_CLOSED] > 0) {
        printf("\nThe pre-queue of this sale was shuffled.  The order rows, "
               "from \"wait spread\" on,\ndo not measure a shuffled order; "
               "flash-verify checks such an order.\n");
    }
}


static error_t
report_parse_option(int key, char *text, struct argp_state *state)
{
    report_options_t  *options;

    options = state->input;

    switch (key) {

    case 'j':
        options->json = true;
        return 0;

    case 'p':
        options->plot = text;
        return 0;

    case ARGP_KEY_ARG:
        options->logs[options->n++] = text;
        return 0;

    case ARGP_KEY_END:
        if (options->n == 0) {
            argp_error(state, "missing access log");
        }

        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static FILE *
report_open(const char *log)
{
    int    c;
    FILE  *file;

    if (strcmp(log, "-") == 0) {
        return stdin;
    }

    file = fopen(log, "r");
    if (file == NULL) {
        report_io_error("open()", log);
        return NULL;
    }

    c = getc(file);

    if (c == REPORT_GZIP_MAGIC) {
        fprintf(stderr, "flash-report: \"%s\" is compressed: use zcat \"%s\" "
                "| flash-report -\n", log, log);
        exit(2);
    }

    if (c != EOF) {
        ungetc(c, file);
    }

    return file;
}


int
main(int argc, char **argv)
{
    FILE              *file;
    size_t             i;
    report_t           report;
    report_options_t   options;

    static const struct argp  argp = {
        .options = report_option_list,
        .parser = report_parse_option,
        .args_doc = "ACCESS_LOG...",
        .doc = "Reports the fairness and volume of a sale from access logs "
               "in the format of docs/log.md.  \"-\" reads standard input."
               "\vExit status: 0 on success, 1 if the logs have no line with "
               "a status, 2 on error."
    };

    options = (report_options_t) { .n = 0 };
    report = (report_t) { .requests = 0 };

    options.logs = calloc((size_t) argc, sizeof(char *));

    if (options.logs == NULL || !report_shoppers_init(&report.shoppers)) {
        report_out_of_memory();
    }

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);

    for (i = 0; i < options.n; i++) {
        file = report_open(options.logs[i]);
        report_read(&report, file, options.logs[i]);
        fclose(file);
    }

    if (report.requests == 0) {
        fprintf(stderr, "flash-report: no \"status=\" in %llu lines\n",
                (unsigned long long) report.unrelated);
        return 1;
    }

    if (report.incomplete > 0) {
        fprintf(stderr, "flash-report: %llu admissions without \"id=\", "
                "\"first=\" or \"waited=\" ignored\n",
                (unsigned long long) report.incomplete);
    }

    report_measure(&report, options.plot);
    report_print(&report, options.json);
    report_shoppers_free(&report.shoppers);
    free(options.logs);

    return 0;
}
