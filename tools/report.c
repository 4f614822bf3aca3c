
/*
 * flash-report: how fair a sale was, from nginx's access log.
 */

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report_plot.h"
#include "report_shoppers.h"


/* no line that nginx writes is as long */
#define FT_REPORT_LINE  (1024 * 1024)

/* how a compressed file begins; no text does */
#define FT_REPORT_GZIP  0x1f


typedef struct {
    uint64_t              status[FT_LOG_STATUSES];
    uint64_t              requests;
    uint64_t              dry_run;
    uint64_t              polls;
    uint64_t              in_line;      /* shoppers, not just too early or late */
    uint64_t              queued;       /* shoppers */
    uint64_t              others;       /* lines without a status */
    uint64_t              broken;       /* admissions without id or times */
    uint64_t              cut;          /* lines that are not whole */
    ft_report_shoppers_t  shoppers;
    ft_fairness_t         fairness;
} ft_queuelog_report_t;

typedef struct {
    const char          **logs;
    size_t                n;
    const char           *plot;
    bool                  json;
} ft_report_options_t;

typedef struct {
    const char           *name;
    const char           *label;
    double                value;
    int                   digits;
} ft_report_row_t;


static const struct argp_option  ft_report_option_list[] = {
    { "json", 'j', NULL, 0, "JSON instead of a table", 0 },
    { "plot", 'p', "FILE", 0, "draw when each shopper came and was let in, and "
      "how long they waited, as SVG", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static void
ft_report_no_memory(void)
{
    fprintf(stderr, "flash-report: no memory\n");
    exit(2);
}


static void
ft_report_admission(ft_queuelog_report_t *report, const ft_log_line_t *line,
    ft_report_shopper_t *shopper)
{
    if (line->first_us < 0 || line->waited_us < 0) {
        report->broken++;
        return;
    }

    /*
     * A shopper with two tabs can be admitted twice: the first one counts, in
     * whatever order the logs are read.
     */

    if (shopper->served.admitted_us < 0
        || line->first_us + line->waited_us < shopper->served.admitted_us)
    {
        shopper->served.first_us = line->first_us;
        shopper->served.admitted_us = line->first_us + line->waited_us;
    }
}


/* Of somebody who wants to be let in. */
static bool
ft_report_is_asking(ft_log_status_t status)
{
    switch (status) {

    case FT_LOG_QUEUED:
    case FT_LOG_ADMITTED:
    case FT_LOG_REJECTED:
    case FT_LOG_SOLD_OUT:
    case FT_LOG_CLOSED:
        return true;

    default:
        return false;
    }
}


static void
ft_report_line(ft_queuelog_report_t *report, const ft_log_line_t *line)
{
    ft_report_shopper_t  *shopper;

    report->requests++;
    report->status[line->status]++;
    report->dry_run += line->dry_run;

    if (!ft_report_is_asking(line->status)) {
        return;
    }

    if (line->id == 0) {
        report->broken += (line->status == FT_LOG_ADMITTED);
        return;
    }

    shopper = ft_report_shopper(&report->shoppers, line->id);
    if (shopper == NULL) {
        ft_report_no_memory();
        return;
    }

    /* who came to a closed door, or to empty shelves, is there, but in no line */

    if (line->status == FT_LOG_CLOSED || line->status == FT_LOG_SOLD_OUT) {
        return;
    }

    if (shopper->polls++ == 0) {
        report->in_line++;
    }

    report->polls++;

    if (line->status == FT_LOG_QUEUED && !shopper->queued) {
        shopper->queued = true;
        report->queued++;
    }

    if (line->status == FT_LOG_ADMITTED) {
        ft_report_admission(report, line, shopper);
    }
}


static void
ft_report_take(ft_queuelog_report_t *report, const char *text, size_t len)
{
    ft_log_line_t  line;

    switch (ft_log_read(&line, text, len)) {

    case FT_LOG_WHOLE:
        ft_report_line(report, &line);
        break;

    case FT_LOG_TORN:
        report->cut++;
        break;

    default: /* FT_LOG_FOREIGN */
        report->others++;
        break;
    }
}


/*
 * Block by block.  What is left at the end has not been written to its end, and
 * a line that does not fit is none of nginx's.
 */
static void
ft_report_read(ft_queuelog_report_t *report, FILE *file, const char *name)
{
    bool     skip;
    char    *p, *end, *last;
    size_t   kept, n;

    static char  block[FT_REPORT_LINE];

    kept = 0;
    skip = false;

    while ((n = fread(block + kept, 1, sizeof(block) - kept, file)) > 0) {
        p = block;
        last = block + kept + n;

        while ((end = memchr(p, '\n', (size_t) (last - p))) != NULL) {

            if (skip) {
                report->cut++;
            } else {
                ft_report_take(report, p, (size_t) (end - p));
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

    report->cut += (kept > 0 || skip);

    if (ferror(file)) {
        fprintf(stderr, "flash-report: cannot read %s: %s\n", name,
                strerror(errno));
        exit(2);
    }
}


static void
ft_report_draw(const ft_queuelog_report_t *report, const ft_served_t *served, size_t n,
    const char *name)
{
    FILE  *out;

    out = fopen(name, "w");

    if (out == NULL || !ft_report_plot(out, served, n, &report->fairness)
        || fclose(out) != 0)
    {
        fprintf(stderr, "flash-report: cannot write %s: %s\n", name,
                strerror(errno));
        exit(2);
    }
}


static void
ft_report_measure(ft_queuelog_report_t *report, const char *plot)
{
    size_t                i, n;
    ft_served_t          *served;
    ft_report_shopper_t  *shopper;

    served = malloc((report->shoppers.n + 1) * sizeof(ft_served_t));
    if (served == NULL) {
        ft_report_no_memory();
        return;
    }

    n = 0;

    for (i = 0; i < report->shoppers.size; i++) {
        shopper = &report->shoppers.table[i];

        if (shopper->id != 0 && shopper->served.admitted_us >= 0) {
            served[n++] = shopper->served;
        }
    }

    if (!ft_fairness(served, n, &report->fairness)) {
        ft_report_no_memory();
    }

    if (plot != NULL) {
        ft_report_draw(report, served, n, plot);
    }

    free(served);
}


static void
ft_report_print_json(const ft_report_row_t *rows, size_t n)
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
ft_report_print_table(const ft_report_row_t *rows, size_t n)
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
ft_report_print(const ft_queuelog_report_t *report, bool json)
{
    size_t                n, shoppers;
    const ft_fairness_t  *fairness;

    shoppers = report->shoppers.n;
    fairness = &report->fairness;

    const ft_report_row_t  rows[] = {
        { "requests", "requests", (double) report->requests, 0 },
        { "other_lines", "other lines", (double) report->others, 0 },
        { "cut_lines", "cut lines", (double) report->cut, 0 },
        { "dry_run", "of a dry run", (double) report->dry_run, 0 },
        { "passed", "with a pass", (double) report->status[FT_LOG_PASSED], 0 },
        { "bypassed", "bypassed", (double) report->status[FT_LOG_BYPASSED],
          0 },
        { "rejected", "rejected", (double) report->status[FT_LOG_REJECTED],
          0 },
        { "sold_out", "told sold out", (double) report->status[FT_LOG_SOLD_OUT],
          0 },
        { "closed", "before the opening", (double) report->status[FT_LOG_CLOSED],
          0 },
        { "shoppers", "shoppers", (double) shoppers, 0 },
        { "queued", "queued", (double) report->queued, 0 },
        { "admitted", "admitted", (double) fairness->admitted, 0 },
        { "polls_per_shopper", "polls a shopper",
          report->in_line > 0
              ? (double) report->polls / (double) report->in_line : NAN, 3 },
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
        ft_report_print_json(rows, n);
    } else {
        ft_report_print_table(rows, n);

        if (report->status[FT_LOG_CLOSED] > 0) {
            printf("\nThis sale had an opening: who came before it was let in "
                   "by lot, which the figures\nfrom \"wait spread\" on take for "
                   "disorder. build/flash-verify checks such an order.\n");
        }
    }
}


static error_t
ft_report_option(int key, char *text, struct argp_state *state)
{
    ft_report_options_t  *options;

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
            argp_error(state, "name an access log, or \"-\" for the standard "
                       "input");
        }

        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static FILE *
ft_report_open(const char *log)
{
    int    c;
    FILE  *file;

    if (strcmp(log, "-") == 0) {
        return stdin;
    }

    file = fopen(log, "r");
    if (file == NULL) {
        fprintf(stderr, "flash-report: cannot open %s: %s\n", log,
                strerror(errno));
        exit(2);
    }

    c = getc(file);

    if (c == FT_REPORT_GZIP) {
        fprintf(stderr, "flash-report: %s is compressed: zcat %s | flash-report "
                "-\n", log, log);
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
    FILE                 *file;
    size_t                i;
    ft_queuelog_report_t           report;
    ft_report_options_t   options;

    static const struct argp  argp = {
        .options = ft_report_option_list,
        .parser = ft_report_option,
        .args_doc = "ACCESS_LOG...",
        .doc = "Prints how fair a sale was, from access logs in the format that "
               "docs/log.md describes; \"-\" reads the standard input."
    };

    options = (ft_report_options_t) { .n = 0 };
    report = (ft_queuelog_report_t) { .requests = 0 };

    options.logs = calloc((size_t) argc, sizeof(char *));

    if (options.logs == NULL || !ft_report_shoppers_init(&report.shoppers)) {
        ft_report_no_memory();
    }

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);

    for (i = 0; i < options.n; i++) {
        file = ft_report_open(options.logs[i]);
        ft_report_read(&report, file, options.logs[i]);
        fclose(file);
    }

    if (report.requests == 0) {
        fprintf(stderr, "flash-report: no line of %s (%llu) has a status=: "
                "it takes the log_format of docs/log.md\n", options.logs[0],
                (unsigned long long) report.others);
        return 1;
    }

    if (report.broken > 0) {
        fprintf(stderr, "flash-report: %llu admissions lack id=, first= or "
                "waited= and are left out: see docs/log.md\n",
                (unsigned long long) report.broken);
    }

    ft_report_measure(&report, options.plot);
    ft_report_print(&report, options.json);
    ft_report_shoppers_free(&report.shoppers);
    free(options.logs);

    return 0;
}
