
/*
 * flash-sim: simulates sales with the throttle's core.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "print.h"
#include "run.h"


static FILE *
ft_sim_open_trace(const ft_options_t *options)
{
    FILE  *trace;

    if (options->trace == NULL) {
        return NULL;
    }

    trace = fopen(options->trace, "w");
    if (trace == NULL) {
        fprintf(stderr, "flash-sim: open() \"%s\" failed: %s\n",
                options->trace, strerror(errno));
        exit(2);
    }

    ft_run_trace_head(trace);

    return trace;
}


static void
ft_sim_close_trace(const ft_options_t *options, FILE *trace)
{
    bool  failed;

    if (trace == NULL) {
        return;
    }

    failed = (ferror(trace) != 0);

    if (fclose(trace) != 0 || failed) {
        fprintf(stderr, "flash-sim: write() \"%s\" failed\n",
                options->trace);
        exit(2);
    }
}


static bool
ft_sim_runs(const ft_options_t *options, ft_summary_t *summary)
{
    bool           good;
    FILE          *trace;
    uint32_t       i;
    ft_run_t       run;
    ft_figures_t  *figures;

    figures = malloc(options->runs * sizeof(ft_figures_t));
    good = (figures != NULL && ft_run_init(&run, options));

    if (!good) {
        return false;
    }

    trace = ft_sim_open_trace(options);

    for (i = 0; i < options->runs && good; i++) {
        good = ft_run(&run, i + 1, &figures[i]);

        if (trace != NULL) {
            ft_run_trace(&run, i + 1, trace);
        }
    }

    ft_sim_close_trace(options, trace);

    good = good && ft_figures_summarize(summary, figures, options->runs);

    ft_run_free(&run);
    free(figures);

    return good;
}


int
main(int argc, char **argv)
{
    bool          met;
    ft_summary_t  summary;
    ft_options_t  options;

    ft_options_read(&options, argc, argv);

    if (!ft_sim_runs(&options, &summary)) {
        fprintf(stderr, "flash-sim: out of memory for %zu shoppers\n",
                options.profile.narrivals);
        return 2;
    }

    met = true;

    if (options.requires.n > 0) {
        met = ft_print_requires(&options, &summary);

    } else if (options.json) {
        ft_print_json(&options, &summary);

    } else {
        ft_print_table(&options, &summary);
    }

    ft_options_free(&options);

    return met ? 0 : 1;
}
