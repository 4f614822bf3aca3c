
#define _GNU_SOURCE

#include "profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define FT_PROFILE_LINE_MAX      256
#define FT_PROFILE_SECONDS_MAX   864000.0
#define FT_PROFILE_SHOPPERS_MAX  20000000.0


typedef struct {
    const char        *name;
    int64_t            stock;
    const char        *text;
} ft_profile_builtin_t;


/* from the playbook */
static const ft_profile_builtin_t  ft_profile_builtins[] = {
    { "drop", 500, "10 0 300\n20 300 300\n5 300 0\n" },
    { "low", 500, "10 0 30\n20 30 30\n5 30 0\n" },
    { "peak", -1, "10 0 64\n30 64 64\n10 64 0\n" }
};

static const char  *ft_change_keywords[] = {
    [FT_CHANGE_SLOTS] = "slots",
    [FT_CHANGE_RATE] = "rate",
    [FT_CHANGE_INFLIGHT] = "inflight",
    [FT_CHANGE_PAYMENT] = "payment-factor",
    [FT_CHANGE_RESTART] = "restart"
};


static void *
ft_profile_grow(void *array, size_t n, size_t size)
{
    array = realloc(array, n * size);
    if (array == NULL) {
        fprintf(stderr, "flash-sim: out of memory for the profile\n");
        exit(1);
    }

    return array;
}


static bool
ft_profile_add_change(ft_profile_t *profile, const char *line)
{
    int          end, fields;
    char         keyword[32];
    size_t       kind, kinds;
    double       at, value;
    ft_change_t  *change;

    value = 0;
    end = 0;
    kinds = sizeof(ft_change_keywords) / sizeof(ft_change_keywords[0]);

    fields = sscanf(line, " at %lf %31[a-z-] %n%lf %n", &at, keyword, &end,
                    &value, &end);

    if (fields < 2 || line[end] != '\0' || !(at >= 0)
        || at > FT_PROFILE_SECONDS_MAX || !(value >= 0) || value > 1e9)
    {
        return false;
    }

    for (kind = 0; kind < kinds; kind++) {
        if (strcmp(keyword, ft_change_keywords[kind]) == 0) {
            break;
        }
    }

    /* with a capacity of 0 the sale would never end */

    if (kind == kinds
        || (kind == FT_CHANGE_RESTART ? fields != 2 : fields != 3 || !value))
    {
        return false;
    }

    profile->changes = ft_profile_grow(profile->changes, profile->nchanges + 1,
                                       sizeof(ft_change_t));

    change = &profile->changes[profile->nchanges++];
    change->at_us = llround(at * 1e6);
    change->kind = (ft_change_kind_t) kind;
    change->value = value;

    return true;
}


static bool
ft_profile_add_stage(ft_profile_t *profile, const char *line)
{
    int         end;
    ft_stage_t  stage;

    end = 0;

    if (sscanf(line, " %lf %lf %lf %n", &stage.seconds, &stage.from, &stage.to,
               &end) != 3
        || line[end] != '\0' || !(stage.seconds > 0)
        || stage.seconds > FT_PROFILE_SECONDS_MAX
        || !(stage.from >= 0) || !(stage.to >= 0)
        || stage.from > 1e6 || stage.to > 1e6)
    {
        return false;
    }

    profile->stages = ft_profile_grow(profile->stages, profile->nstages + 1,
                                      sizeof(ft_stage_t));
    profile->stages[profile->nstages++] = stage;

    return true;
}


static bool
ft_profile_parse(ft_profile_t *profile, FILE *file, const char *name,
    char **error)
{
    char      line[FT_PROFILE_LINE_MAX], keyword[3];
    bool      good;
    unsigned  number;

    for (number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "#\r\n")] = '\0';

        if (sscanf(line, " %2s", keyword) != 1) {
            continue;
        }

        if (strcmp(keyword, "at") == 0) {
            good = ft_profile_add_change(profile, line);
        } else {
            good = ft_profile_add_stage(profile, line);
        }

        if (!good) {
            if (asprintf(error, "invalid line \"%s\" in %s:%u, it must be "
                         "\"SECONDS FROM TO\" or \"at SECONDS CHANGE\" with "
                         "a change \"slots N\", \"rate R\", \"inflight N\", "
                         "\"payment-factor F\" or \"restart\"",
                         line, name, number) == -1)
            {
                *error = NULL;
            }

            return false;
        }
    }

    return true;
}


/* Seconds from the start of the stage to the arrival of `area` shoppers. */
static double
ft_profile_when(const ft_stage_t *stage, double scale, double area)
{
    double  from, slope, root;

    from = stage->from * scale;
    slope = (stage->to - stage->from) * scale / stage->seconds;

    if (slope == 0) {
        return area / from;
    }

    /* solves from x t + slope x t^2 / 2 = area without cancellation */

    root = from * from + 2 * slope * area;

    return 2 * area / (from + sqrt(root > 0 ? root : 0));
}


static void
ft_profile_schedule(ft_profile_t *profile, double scale)
{
    size_t      i, n;
    double      area, before, began, total;
    ft_stage_t  *stage;

    total = 0;
    for (i = 0; i < profile->nstages; i++) {
        stage = &profile->stages[i];
        total += (stage->from + stage->to) / 2 * stage->seconds * scale;
    }

    if (total > FT_PROFILE_SHOPPERS_MAX) {
        return;
    }

    /* one more than the total: rounding must not lose the last arrival */

    profile->arrivals_us = ft_profile_grow(NULL, (size_t) total + 2,
                                           sizeof(int64_t));
    n = 0;
    before = 0;
    began = 0;

    for (i = 0; i < profile->nstages; i++) {
        stage = &profile->stages[i];
        area = (stage->from + stage->to) / 2 * stage->seconds * scale;

        while ((double) (n + 1) <= before + area + 1e-6) {
            profile->arrivals_us[n] = llround((began
                + ft_profile_when(stage, scale, (double) (n + 1) - before))
                * 1e6);
            n++;
        }

        before += area;
        began += stage->seconds;
    }

    profile->narrivals = n;
}


static FILE *
ft_profile_open(ft_profile_t *profile, const char *name)
{
    size_t  i, n;

    n = sizeof(ft_profile_builtins) / sizeof(ft_profile_builtins[0]);

    for (i = 0; i < n; i++) {
        if (strcmp(name, ft_profile_builtins[i].name) == 0) {
            profile->stock = ft_profile_builtins[i].stock;

            return fmemopen((void *) ft_profile_builtins[i].text,
                            strlen(ft_profile_builtins[i].text), "r");
        }
    }

    return fopen(name, "r");
}


static int
ft_profile_change_order(const void *a, const void *b)
{
    const ft_change_t  *x, *y;

    x = a;
    y = b;

    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}


bool
ft_profile_read(ft_profile_t *profile, const char *name, double scale,
    char **error)
{
    FILE  *file;
    bool   good;

    memset(profile, 0, sizeof(ft_profile_t));
    profile->stock = -1;
    *error = NULL;

    file = ft_profile_open(profile, name);
    if (file == NULL) {
        if (asprintf(error, "open() \"%s\" failed: %s; the built-in profiles "
                     "are drop, low and peak", name, strerror(errno)) == -1)
        {
            *error = NULL;
        }

        return false;
    }

    good = ft_profile_parse(profile, file, name, error);
    fclose(file);

    if (!good) {
        ft_profile_free(profile);
        return false;
    }

    if (profile->nchanges > 0) {
        qsort(profile->changes, profile->nchanges, sizeof(ft_change_t),
              ft_profile_change_order);
    }

    ft_profile_schedule(profile, scale);

    if (profile->narrivals == 0) {
        if (asprintf(error, "invalid profile \"%s\" with scale %g, the number "
                     "of shoppers must be 1 to %.0f", name, scale,
                     FT_PROFILE_SHOPPERS_MAX) == -1)
        {
            *error = NULL;
        }

        ft_profile_free(profile);
        return false;
    }

    return true;
}


void
ft_profile_free(ft_profile_t *profile)
{
    free(profile->stages);
    free(profile->changes);
    free(profile->arrivals_us);
}
