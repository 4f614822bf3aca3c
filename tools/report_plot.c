
#include "report_plot.h"

#include <math.h>
#include <stdlib.h>


#define FT_PLOT_WIDTH    760
#define FT_PLOT_HEIGHT   640
#define FT_PLOT_LEFT     70
#define FT_PLOT_RIGHT    740

#define FT_PLOT_COLUMNS  (FT_PLOT_RIGHT - FT_PLOT_LEFT) / FT_PLOT_CELL
#define FT_PLOT_CELL     5

/* one above the other: admissions, and waits */
#define FT_PLOT_TOP      50
#define FT_PLOT_BOTTOM   350
#define FT_WAITS_TOP     440
#define FT_WAITS_BOTTOM  590

#define FT_PLOT_ROWS     (FT_PLOT_BOTTOM - FT_PLOT_TOP) / FT_PLOT_CELL
#define FT_PLOT_TICKS    8


/* Seconds along an axis, from 0. */
typedef struct {
    double            last;
    double            step;         /* of its ticks */
} ft_plot_axis_t;


/* Round steps, as many as there is space for. */
static ft_plot_axis_t
ft_plot_axis(double last)
{
    size_t          i;
    ft_plot_axis_t  axis;

    static const double  steps[] = {
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15,
        30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400
    };

    axis.last = last > 0.001 ? last : 0.001;
    axis.step = axis.last;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (axis.last / steps[i] <= FT_PLOT_TICKS) {
            axis.step = steps[i];
            break;
        }
    }

    return axis;
}


/* "2 min", or "1:15 min". */
static void
ft_plot_sixties(FILE *out, int n, const char *unit)
{
    if (n % 60) {
        fprintf(out, "%d:%02d %s", n / 60, n % 60, unit);

    } else {
        fprintf(out, "%d %s", n / 60, unit);
    }
}


static void
ft_plot_seconds(FILE *out, double s)
{
    if (s < 60) {
        fprintf(out, "%g s", s);

    } else if (s < 3600) {
        ft_plot_sixties(out, (int) s, "min");

    } else {
        ft_plot_sixties(out, (int) (s / 60), "h");
    }
}


static void
ft_plot_ticks_along(FILE *out, const ft_plot_axis_t *axis, int bottom)
{
    int     x;
    double  at;

    for (at = 0; at <= axis->last * 1.0001; at += axis->step) {
        x = FT_PLOT_LEFT
            + (int) ((FT_PLOT_RIGHT - FT_PLOT_LEFT) * at / axis->last);

        fprintf(out, "<path class=\"tick\" d=\"M%d %dv5\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x, bottom, x,
                bottom + 19);
        ft_plot_seconds(out, at);
        fprintf(out, "</text>\n");
    }
}


static void
ft_plot_ticks_up(FILE *out, const ft_plot_axis_t *axis)
{
    int     y;
    double  at;

    for (at = 0; at <= axis->last * 1.0001; at += axis->step) {
        y = FT_PLOT_BOTTOM
            - (int) ((FT_PLOT_BOTTOM - FT_PLOT_TOP) * at / axis->last);

        fprintf(out, "<path class=\"grid\" d=\"M%d %dH%d\"/>"
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", FT_PLOT_LEFT, y,
                FT_PLOT_RIGHT, FT_PLOT_LEFT - 7, y + 4);
        ft_plot_seconds(out, at);
        fprintf(out, "</text>\n");
    }
}


/* Marks for cells with somebody in them, the darker the more. */
static void
ft_plot_cells(FILE *out, const uint32_t *cell)
{
    int       i, k;
    double    share;
    uint32_t  most;

    most = 1;

    for (i = 0; i < FT_PLOT_COLUMNS * FT_PLOT_ROWS; i++) {
        most = cell[i] > most ? cell[i] : most;
    }

    for (i = 0; i < FT_PLOT_COLUMNS; i++) {

        for (k = 0; k < FT_PLOT_ROWS; k++) {

            if (cell[i * FT_PLOT_ROWS + k] == 0) {
                continue;
            }

            share = sqrt((double) cell[i * FT_PLOT_ROWS + k] / most);

            fprintf(out, "<use href=\"#c\" x=\"%d\" y=\"%d\" "
                    "opacity=\"%.2f\"/>\n", FT_PLOT_LEFT + i * FT_PLOT_CELL,
                    FT_PLOT_BOTTOM - (k + 1) * FT_PLOT_CELL,
                    0.25 + 0.75 * share);
        }
    }
}


/* A place along an axis, as one of n. */
static int
ft_plot_place(double s, const ft_plot_axis_t *axis, int n)
{
    int  i;

    i = (int) (s / axis->last * n);

    return i < 0 ? 0 : i < n ? i : n - 1;
}


static bool
ft_plot_admissions(FILE *out, const ft_served_t *served, size_t n,
    int64_t start_us)
{
    int              x, y;
    double           corner;
    size_t           i;
    int64_t          first_us, last_us;
    uint32_t        *cell;
    ft_plot_axis_t   along, up;

    first_us = 0;
    last_us = 0;

    for (i = 0; i < n; i++) {
        first_us = served[i].first_us - start_us > first_us
                   ? served[i].first_us - start_us : first_us;
        last_us = served[i].admitted_us - start_us > last_us
                  ? served[i].admitted_us - start_us : last_us;
    }

    cell = calloc((size_t) FT_PLOT_COLUMNS * FT_PLOT_ROWS, sizeof(uint32_t));
    if (cell == NULL) {
        return false;
    }

    along = ft_plot_axis((double) first_us / 1e6);
    up = ft_plot_axis((double) last_us / 1e6);

    for (i = 0; i < n; i++) {
        x = ft_plot_place((double) (served[i].first_us - start_us) / 1e6,
                          &along, FT_PLOT_COLUMNS);
        y = ft_plot_place((double) (served[i].admitted_us - start_us) / 1e6,
                          &up, FT_PLOT_ROWS);
        cell[x * FT_PLOT_ROWS + y]++;
    }

    fprintf(out, "<text class=\"title\" x=\"%d\" y=\"24\">When each shopper came, "
            "and when it was let in</text>\n", FT_PLOT_LEFT);

    ft_plot_ticks_up(out, &up);
    ft_plot_ticks_along(out, &along, FT_PLOT_BOTTOM);

    /* whoever stands on this line did not wait */

    corner = along.last < up.last ? along.last : up.last;

    fprintf(out, "<path class=\"none\" d=\"M%d %dL%d %d\"/>\n", FT_PLOT_LEFT,
            FT_PLOT_BOTTOM,
            FT_PLOT_LEFT + (int) ((FT_PLOT_RIGHT - FT_PLOT_LEFT)
                                  * corner / along.last),
            FT_PLOT_BOTTOM - (int) ((FT_PLOT_BOTTOM - FT_PLOT_TOP)
                                    * corner / up.last));

    ft_plot_cells(out, cell);
    free(cell);

    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">first attempt, "
            "since the first one; dashed: no wait</text>\n"
            "<text x=\"%d\" y=\"43\">let in</text>\n", FT_PLOT_RIGHT,
            FT_PLOT_BOTTOM + 38, FT_PLOT_LEFT);

    return true;
}


/* A line through the waits, with a name. */
static void
ft_plot_quantile(FILE *out, const char *name, double s,
    const ft_plot_axis_t *axis, int y)
{
    int  x;

    if (isnan(s)) {
        return;
    }

    x = FT_PLOT_LEFT + (int) ((FT_PLOT_RIGHT - FT_PLOT_LEFT) * s / axis->last);

    fprintf(out, "<path class=\"mark\" d=\"M%d %dV%d\"/>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s %.3g s</text>\n", x,
            FT_WAITS_TOP, FT_WAITS_BOTTOM,
            x > FT_PLOT_RIGHT - 110 ? x - 4 : x + 4, y,
            x > FT_PLOT_RIGHT - 110 ? "end" : "start", name, s);
}


static void
ft_plot_waits(FILE *out, const ft_served_t *served, size_t n,
    const ft_fairness_t *fairness)
{
    int             k, height;
    size_t          i;
    int64_t         longest_us;
    uint32_t        most, tallest, bar[FT_PLOT_COLUMNS] = { 0 };
    ft_plot_axis_t  axis;

    longest_us = 0;
    most = 1;

    for (i = 0; i < n; i++) {
        longest_us = served[i].admitted_us - served[i].first_us > longest_us
                     ? served[i].admitted_us - served[i].first_us : longest_us;
    }

    axis = ft_plot_axis((double) longest_us / 1e6);

    for (i = 0; i < n; i++) {
        k = ft_plot_place((double) (served[i].admitted_us - served[i].first_us)
                          / 1e6, &axis, FT_PLOT_COLUMNS);
        bar[k]++;
    }

    /* those who did not wait may be so many that nothing else is seen */

    for (k = 1; k < FT_PLOT_COLUMNS; k++) {
        most = bar[k] > most ? bar[k] : most;
    }

    if (bar[0] <= 2 * most) {
        most = bar[0] > most ? bar[0] : most;

    } else {
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u hardly "
                "waited, their bar is cut</text>\n", FT_PLOT_RIGHT,
                FT_WAITS_TOP - 12, bar[0]);
    }

    fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">How long they "
            "waited</text>\n", FT_PLOT_LEFT, FT_WAITS_TOP - 12);

    for (k = 0; k < FT_PLOT_COLUMNS; k++) {

        if (bar[k]) {
            tallest = bar[k] < most ? bar[k] : most;
            height = (int) ceil((double) tallest / most
                                * (FT_WAITS_BOTTOM - FT_WAITS_TOP));

            fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                    "height=\"%d\"/>\n", FT_PLOT_LEFT + k * FT_PLOT_CELL,
                    FT_WAITS_BOTTOM - height, FT_PLOT_CELL - 1, height);
        }
    }

    fprintf(out, "<path class=\"grid\" d=\"M%d %dH%d\"/>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u</text>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n",
            FT_PLOT_LEFT, FT_WAITS_BOTTOM, FT_PLOT_RIGHT, FT_PLOT_LEFT - 7,
            FT_WAITS_TOP + 9, most, FT_PLOT_LEFT - 7, FT_WAITS_BOTTOM);

    ft_plot_ticks_along(out, &axis, FT_WAITS_BOTTOM);
    ft_plot_quantile(out, "half up to", fairness->wait_p50_s, &axis,
                     FT_WAITS_TOP + 10);
    ft_plot_quantile(out, "95 % up to", fairness->wait_p95_s, &axis,
                     FT_WAITS_TOP + 26);

    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">wait</text>\n",
            FT_PLOT_RIGHT, FT_WAITS_BOTTOM + 38);
}


bool
ft_report_plot(FILE *out, const ft_served_t *served, size_t n,
    const ft_fairness_t *fairness)
{
    size_t   i;
    int64_t  start_us;

    start_us = n ? served[0].first_us : 0;

    for (i = 1; i < n; i++) {
        start_us = served[i].first_us < start_us ? served[i].first_us
                                                 : start_us;
    }

    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"%zu admissions against first attempts, and how long "
            "these shoppers waited\">\n"
            "<style>text { font: 12px sans-serif; fill: #333 } "
            ".title { font-size: 15px; font-weight: bold } "
            ".grid, .tick { stroke: #ccc; fill: none } "
            ".none { stroke: #777; stroke-dasharray: 4 3; fill: none } "
            ".mark { stroke: #c25400; fill: none } "
            "rect { fill: #0072b2 }</style>\n"
            "<rect width=\"%d\" height=\"%d\" style=\"fill: #fff\"/>\n"
            "<defs><rect id=\"c\" width=\"%d\" height=\"%d\"/></defs>\n",
            FT_PLOT_WIDTH, FT_PLOT_HEIGHT, n, FT_PLOT_WIDTH, FT_PLOT_HEIGHT,
            FT_PLOT_CELL, FT_PLOT_CELL);

    if (!ft_plot_admissions(out, served, n, start_us)) {
        return false;
    }

    ft_plot_waits(out, served, n, fairness);

    fprintf(out, "</svg>\n");

    return true;
}
