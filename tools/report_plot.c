
#include "report_plot.h"

#include <math.h>
#include <stdlib.h>


/* all in SVG units */
#define PLOT_WIDTH    760
#define PLOT_HEIGHT   640
#define PLOT_LEFT     70
#define PLOT_RIGHT    740

#define PLOT_TOP      50
#define PLOT_BOTTOM   350

#define WAITS_TOP     440
#define WAITS_BOTTOM  590

#define PLOT_CELL     5
#define PLOT_COLUMNS  ((PLOT_RIGHT - PLOT_LEFT) / PLOT_CELL)
#define PLOT_ROWS     ((PLOT_BOTTOM - PLOT_TOP) / PLOT_CELL)
#define PLOT_TICKS    8


/* From 0, in seconds. */
typedef struct {
    double            last;
    double            step;         /* between ticks */
} report_plot_axis_t;


static report_plot_axis_t
report_plot_axis(double last)
{
    size_t              i;
    report_plot_axis_t  axis;

    static const double  steps[] = {
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15,
        30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400
    };

    axis.last = last > 0.001 ? last : 0.001;
    axis.step = axis.last;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (axis.last / steps[i] <= PLOT_TICKS) {
            axis.step = steps[i];
            break;
        }
    }

    return axis;
}


static int
report_plot_x(double s, const report_plot_axis_t *axis)
{
    return PLOT_LEFT + (int) ((PLOT_RIGHT - PLOT_LEFT) * s / axis->last);
}


static int
report_plot_y(double s, const report_plot_axis_t *axis)
{
    return PLOT_BOTTOM - (int) ((PLOT_BOTTOM - PLOT_TOP) * s / axis->last);
}


static int
report_plot_bin(double s, const report_plot_axis_t *axis, int n)
{
    int  i;

    i = (int) (s / axis->last * n);

    return i < 0 ? 0 : i < n ? i : n - 1;
}


/* As "2 min" or "1:15 min". */
static void
report_plot_print_sixtieths(FILE *out, int n, const char *unit)
{
    if (n % 60) {
        fprintf(out, "%d:%02d %s", n / 60, n % 60, unit);

    } else {
        fprintf(out, "%d %s", n / 60, unit);
    }
}


static void
report_plot_print_seconds(FILE *out, double s)
{
    if (s < 60) {
        fprintf(out, "%g s", s);

    } else if (s < 3600) {
        report_plot_print_sixtieths(out, (int) s, "min");

    } else {
        report_plot_print_sixtieths(out, (int) (s / 60), "h");
    }
}


static void
report_plot_x_ticks(FILE *out, const report_plot_axis_t *axis, int bottom)
{
    int     x;
    double  at;

    for (at = 0; at <= axis->last * 1.0001; at += axis->step) {
        x = report_plot_x(at, axis);

        fprintf(out, "<path class=\"tick\" d=\"M%d %dv5\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x, bottom, x,
                bottom + 19);
        report_plot_print_seconds(out, at);
        fprintf(out, "</text>\n");
    }
}


static void
report_plot_y_ticks(FILE *out, const report_plot_axis_t *axis)
{
    int     y;
    double  at;

    for (at = 0; at <= axis->last * 1.0001; at += axis->step) {
        y = report_plot_y(at, axis);

        fprintf(out, "<path class=\"grid\" d=\"M%d %dH%d\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", PLOT_LEFT, y,
                PLOT_RIGHT, PLOT_LEFT - 7, y + 4);
        report_plot_print_seconds(out, at);
        fprintf(out, "</text>\n");
    }
}


static void
report_plot_cells(FILE *out, const uint32_t *cells)
{
    int       i, k;
    double    share;
    uint32_t  max;

    max = 1;

    for (i = 0; i < PLOT_COLUMNS * PLOT_ROWS; i++) {
        max = cells[i] > max ? cells[i] : max;
    }

    for (i = 0; i < PLOT_COLUMNS; i++) {

        for (k = 0; k < PLOT_ROWS; k++) {

            if (cells[i * PLOT_ROWS + k] == 0) {
                continue;
            }

            share = sqrt((double) cells[i * PLOT_ROWS + k] / max);

            fprintf(out, "<use href=\"#c\" x=\"%d\" y=\"%d\" "
                    "opacity=\"%.2f\"/>\n", PLOT_LEFT + i * PLOT_CELL,
                    PLOT_BOTTOM - (k + 1) * PLOT_CELL, 0.25 + 0.75 * share);
        }
    }
}


static bool
report_plot_admissions(FILE *out, const fairness_sample_t *samples, size_t n,
    int64_t start_us)
{
    int                  x, y;
    double               first_s, admitted_s, no_wait_s;
    size_t               i;
    uint32_t            *cells;
    report_plot_axis_t   first, admitted;

    first_s = 0;
    admitted_s = 0;

    for (i = 0; i < n; i++) {
        first_s = fmax(first_s,
                       (double) (samples[i].first_us - start_us) / 1e6);
        admitted_s = fmax(admitted_s,
                          (double) (samples[i].admitted_us - start_us) / 1e6);
    }

    cells = calloc((size_t) PLOT_COLUMNS * PLOT_ROWS, sizeof(uint32_t));
    if (cells == NULL) {
        return false;
    }

    first = report_plot_axis(first_s);
    admitted = report_plot_axis(admitted_s);

    for (i = 0; i < n; i++) {
        x = report_plot_bin((double) (samples[i].first_us - start_us) / 1e6,
                            &first, PLOT_COLUMNS);
        y = report_plot_bin((double) (samples[i].admitted_us - start_us) / 1e6,
                            &admitted, PLOT_ROWS);
        cells[x * PLOT_ROWS + y]++;
    }

    fprintf(out, "<text class=\"title\" x=\"%d\" y=\"24\">Admission against "
            "first attempt</text>\n", PLOT_LEFT);

    report_plot_y_ticks(out, &admitted);
    report_plot_x_ticks(out, &first, PLOT_BOTTOM);

    no_wait_s = fmin(first.last, admitted.last);

    fprintf(out, "<path class=\"none\" d=\"M%d %dL%d %d\"/>\n", PLOT_LEFT,
            PLOT_BOTTOM, report_plot_x(no_wait_s, &first),
            report_plot_y(no_wait_s, &admitted));

    report_plot_cells(out, cells);
    free(cells);

    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">first attempt, "
            "since the earliest one; dashed: no wait</text>\n"
            "<text x=\"%d\" y=\"43\">admission</text>\n", PLOT_RIGHT,
            PLOT_BOTTOM + 38, PLOT_LEFT);

    return true;
}


static void
report_plot_quantile(FILE *out, const char *name, double s,
    const report_plot_axis_t *axis, int y)
{
    int   x;
    bool  left;

    if (isnan(s)) {
        return;
    }

    x = report_plot_x(s, axis);
    left = x > PLOT_RIGHT - 110;        /* the label needs 110 */

    fprintf(out, "<path class=\"mark\" d=\"M%d %dV%d\"/>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s %.3g s</text>\n", x,
            WAITS_TOP, WAITS_BOTTOM, left ? x - 4 : x + 4, y,
            left ? "end" : "start", name, s);
}


static double
report_plot_wait_s(const fairness_sample_t *sample)
{
    return (double) (sample->admitted_us - sample->first_us) / 1e6;
}


static void
report_plot_waits(FILE *out, const fairness_sample_t *samples, size_t n,
    const fairness_t *fairness)
{
    int                 k, height;
    double              longest_s;
    size_t              i;
    uint32_t            max, count, bars[PLOT_COLUMNS] = { 0 };
    report_plot_axis_t  axis;

    longest_s = 0;
    max = 1;

    for (i = 0; i < n; i++) {
        longest_s = fmax(longest_s, report_plot_wait_s(&samples[i]));
    }

    axis = report_plot_axis(longest_s);

    for (i = 0; i < n; i++) {
        k = report_plot_bin(report_plot_wait_s(&samples[i]), &axis,
                            PLOT_COLUMNS);
        bars[k]++;
    }

    /* a large first bar, of those who did not wait, would hide the others */

    for (k = 1; k < PLOT_COLUMNS; k++) {
        max = bars[k] > max ? bars[k] : max;
    }

    if (bars[0] <= 2 * max) {
        max = bars[0] > max ? bars[0] : max;

    } else {
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">first bar "
                "truncated: %u shoppers</text>\n", PLOT_RIGHT, WAITS_TOP - 12,
                bars[0]);
    }

    fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">Waits</text>\n",
            PLOT_LEFT, WAITS_TOP - 12);

    for (k = 0; k < PLOT_COLUMNS; k++) {

        if (bars[k] > 0) {
            count = bars[k] < max ? bars[k] : max;
            height = (int) ceil((double) count / max
                                * (WAITS_BOTTOM - WAITS_TOP));

            fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                    "height=\"%d\"/>\n", PLOT_LEFT + k * PLOT_CELL,
                    WAITS_BOTTOM - height, PLOT_CELL - 1, height);
        }
    }

    fprintf(out, "<path class=\"grid\" d=\"M%d %dH%d\"/>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u</text>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n",
            PLOT_LEFT, WAITS_BOTTOM, PLOT_RIGHT, PLOT_LEFT - 7,
            WAITS_TOP + 9, max, PLOT_LEFT - 7, WAITS_BOTTOM);

    report_plot_x_ticks(out, &axis, WAITS_BOTTOM);
    report_plot_quantile(out, "p50", fairness->wait_p50_s, &axis,
                         WAITS_TOP + 10);
    report_plot_quantile(out, "p95", fairness->wait_p95_s, &axis,
                         WAITS_TOP + 26);

    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">wait</text>\n",
            PLOT_RIGHT, WAITS_BOTTOM + 38);
}


bool
report_plot_write(FILE *out, const fairness_sample_t *samples, size_t n,
    const fairness_t *fairness)
{
    size_t   i;
    int64_t  start_us;

    start_us = n ? samples[0].first_us : 0;

    for (i = 1; i < n; i++) {
        start_us = samples[i].first_us < start_us ? samples[i].first_us
                                                  : start_us;
    }

    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"Admission against first attempt, and waits, of %zu "
            "shoppers\">\n"
            "<style>text { font: 12px sans-serif; fill: #333 } "
            ".title { font-size: 15px; font-weight: bold } "
            ".grid, .tick { stroke: #ccc; fill: none } "
            ".none { stroke: #777; stroke-dasharray: 4 3; fill: none } "
            ".mark { stroke: #c25400; fill: none } "
            "rect { fill: #0072b2 }</style>\n"
            "<rect width=\"%d\" height=\"%d\" style=\"fill: #fff\"/>\n"
            "<defs><rect id=\"c\" width=\"%d\" height=\"%d\"/></defs>\n",
            PLOT_WIDTH, PLOT_HEIGHT, n, PLOT_WIDTH, PLOT_HEIGHT,
            PLOT_CELL, PLOT_CELL);

    if (!report_plot_admissions(out, samples, n, start_us)) {
        return false;
    }

    report_plot_waits(out, samples, n, fairness);

    fprintf(out, "</svg>\n");

    return true;
}
