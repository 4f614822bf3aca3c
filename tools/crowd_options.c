
/*
 * Every option is a row of a table; a bad value is answered with the option,
 * the value, and what to give instead.
 */

#include "crowd_options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define FT_CROWD_SHOPPERS_MAX  1000000
#define FT_CROWD_PATIENCE_MAX  86400.0
#define FT_CROWD_STAGES_TEXT   "2:0-40,6:40-40,2:40-0"


typedef struct ft_option_s  ft_option_t;

/* NULL, or what to give instead */
typedef const char *(*ft_option_set_pt)(void *field, const char *value);

struct ft_option_s {
    const char        *name;
    const char        *argument;        /* NULL: takes none */
    ft_option_set_pt   set;
    size_t             offset;
    const char        *help;
};


static const char *ft_option_url(void *field, const char *value);
static const char *ft_option_file(void *field, const char *value);
static const char *ft_option_stages(void *field, const char *value);
static const char *ft_option_shoppers(void *field, const char *value);
static const char *ft_option_patience(void *field, const char *value);
static const char *ft_option_method(void *field, const char *value);
static const char *ft_option_share(void *field, const char *value);
static const char *ft_option_seed(void *field, const char *value);
static const char *ft_option_flag(void *field, const char *value);


#define FT_FIELD(name)  offsetof(ft_crowd_options_t, name)


static const ft_option_t  ft_option_table[] = {

    { "url", "URL", ft_option_url, FT_FIELD(url),
      "where the shoppers go; has to be given" },

    { "stages", "LIST", ft_option_stages, FT_FIELD(arrivals),
      "SECONDS:FROM-TO,...: shoppers a second, from first to last\n"
      "[" FT_CROWD_STAGES_TEXT "]" },

    { "shoppers", "N", ft_option_shoppers, FT_FIELD(shoppers),
      "so many in all, in the stages' shape [as the stages say]" },

    { "patience", "S|S-S", ft_option_patience, FT_FIELD(patience_min_s),
      "seconds from first attempt to leaving, uniform in a range [15]" },

    { "method", "POST|GET", ft_option_method, FT_FIELD(get),
      "POST buys one unit, GET asks for the page [POST]" },

    { "poll", NULL, ft_option_flag, FT_FIELD(poll),
      "polls as the queue page does, then goes with the pass;\n"
      "otherwise the request itself is repeated" },

    { "deadline", NULL, ft_option_flag, FT_FIELD(deadline),
      "tells the checkout in Flash-Deadline-Ms when it will leave" },

    { "no-cookie", "SHARE", ft_option_share, FT_FIELD(no_cookie),
      "share of shoppers, 0 to 1, that return no cookie [0]" },

    { "vanish", "SHARE", ft_option_share, FT_FIELD(vanish),
      "share of shoppers that stop asking before their patience ends [0]" },

    { "status-url", "URL", ft_option_url, FT_FIELD(status_url),
      "the edge's flash_throttle_status: who waits, threshold's age" },

    { "stats-url", "URL", ft_option_url, FT_FIELD(stats_url),
      "the checkout's statistics: orders, oversold, late charges" },

    { "seed", "N", ft_option_seed, FT_FIELD(seed),
      "who has how much patience, who vanishes, follows from it [1]" },

    { "trace", "FILE", ft_option_file, FT_FIELD(trace),
      "writes a shopper a line: number, first attempt, last request,\n"
      "end (epoch ms), what became of it, requests, last HTTP status" },

    { "live", NULL, ft_option_flag, FT_FIELD(live),
      "a line a second while the sale lasts" },

    { "json", NULL, ft_option_flag, FT_FIELD(json),
      "the figures as JSON instead of a table (live lines on stderr)" },

    { "help", NULL, NULL, 0,
      "show this help" },
};


#define FT_OPTIONS_N  (sizeof(ft_option_table) / sizeof(ft_option_table[0]))


static const char *
ft_option_url(void *field, const char *value)
{
    if (strncmp(value, "http://", 7) != 0
        && strncmp(value, "https://", 8) != 0)
    {
        return "give an address that begins with http:// or https://";
    }

    *(const char **) field = value;

    return NULL;
}


static const char *
ft_option_file(void *field, const char *value)
{
    FILE  *file;

    file = fopen(value, "w");
    if (file == NULL) {
        return "this file cannot be written; give another";
    }

    *(FILE **) field = file;

    return NULL;
}


static const char *
ft_option_stages(void *field, const char *value)
{
    return ft_arrivals_parse(field, value);
}


static bool
ft_option_integer(const char *value, uint64_t *number)
{
    char  *end;

    if (*value < '0' || *value > '9') {
        return false;
    }

    errno = 0;
    *number = strtoull(value, &end, 10);

    return errno == 0 && *end == '\0';
}


static const char *
ft_option_shoppers(void *field, const char *value)
{
    uint64_t  number;

    if (!ft_option_integer(value, &number)
        || number < 1 || number > FT_CROWD_SHOPPERS_MAX)
    {
        return "give a whole number from 1 to 1000000";
    }

    *(uint64_t *) field = number;

    return NULL;
}


static const char *
ft_option_seed(void *field, const char *value)
{
    if (!ft_option_integer(value, field)) {
        return "give a whole number";
    }

    return NULL;
}


/* `field` is the lower bound; the upper one stands after it. */
static const char *
ft_option_patience(void *field, const char *value)
{
    char    *end;
    double  *bound;

    bound = field;
    bound[0] = strtod(value, &end);
    bound[1] = bound[0];

    if (end != value && *end == '-') {
        value = end + 1;
        bound[1] = strtod(value, &end);
    }

    if (end == value || *end != '\0' || !(bound[0] > 0)
        || !(bound[1] >= bound[0]) || bound[1] > FT_CROWD_PATIENCE_MAX)
    {
        return "give seconds above 0, as 15, or a range of them, as 5-25;"
               " a day at most";
    }

    return NULL;
}


static const char *
ft_option_method(void *field, const char *value)
{
    if (strcmp(value, "POST") != 0 && strcmp(value, "GET") != 0) {
        return "give POST or GET";
    }

    *(bool *) field = *value == 'G';

    return NULL;
}


static const char *
ft_option_share(void *field, const char *value)
{
    char    *end;
    double   share;

    share = strtod(value, &end);

    if (end == value || *end != '\0' || !(share >= 0 && share <= 1)) {
        return "give a share from 0 to 1, as 0.25";
    }

    *(double *) field = share;

    return NULL;
}


static const char *
ft_option_flag(void *field, const char *value)
{
    (void) value;

    *(bool *) field = true;

    return NULL;
}


static void
ft_options_help(void)
{
    size_t       i;
    char         name[40];
    const char  *line, *end;

    printf("usage: flash-crowd --url URL [options]\n\n"
           "Sends a crowd of shoppers, each with cookies of its own, to a"
           " checkout behind\na waiting room, and tells how it went.\n\n");

    for (i = 0; i < FT_OPTIONS_N; i++) {
        snprintf(name, sizeof(name), "--%s %s", ft_option_table[i].name,
                 ft_option_table[i].argument ? ft_option_table[i].argument
                                             : "");
        line = ft_option_table[i].help;

        while ((end = strchr(line, '\n')) != NULL) {
            printf("  %-20s %.*s\n", name, (int) (end - line), line);
            name[0] = '\0';
            line = end + 1;
        }

        printf("  %-20s %s\n", name, line);
    }

    printf("\nExit status: 0 if there were orders, none oversold and none"
           " charged late; 1 if\nnot; 2 if the crowd could not run.\n");
}


static ft_options_result_t
ft_options_set(ft_crowd_options_t *options, const ft_option_t *option,
    const char *value)
{
    const char  *wanted;

    wanted = option->set((char *) options + option->offset, value);

    if (wanted != NULL) {
        fprintf(stderr, "flash-crowd: --%s=%s: %s\n", option->name, value,
                wanted);
        return FT_OPTIONS_BAD;
    }

    return FT_OPTIONS_OK;
}


static void
ft_options_getopt(struct option *list)
{
    size_t  i;

    memset(list, 0, (FT_OPTIONS_N + 1) * sizeof(*list));

    for (i = 0; i < FT_OPTIONS_N; i++) {
        list[i].name = ft_option_table[i].name;
        list[i].has_arg = ft_option_table[i].argument ? required_argument
                                                      : no_argument;
    }
}


static ft_options_result_t
ft_options_finish(ft_crowd_options_t *options)
{
    if (options->url == NULL) {
        fprintf(stderr, "flash-crowd: where to? give --url, as"
                " --url=http://127.0.0.1:8080/checkout\n");
        return FT_OPTIONS_BAD;
    }

    if (options->shoppers != 0) {
        ft_arrivals_scale(&options->arrivals, (double) options->shoppers);

    } else {
        options->shoppers = (uint64_t) (ft_arrivals_total(&options->arrivals)
                                        + 1e-6);
    }

    if (options->shoppers > FT_CROWD_SHOPPERS_MAX) {
        fprintf(stderr, "flash-crowd: --stages: %llu shoppers come in these"
                " stages; %d are the most\n",
                (unsigned long long) options->shoppers, FT_CROWD_SHOPPERS_MAX);
        return FT_OPTIONS_BAD;
    }

    return FT_OPTIONS_OK;
}


ft_options_result_t
ft_crowd_options(ft_crowd_options_t *options, int argc, char **argv)
{
    int            index;
    struct option  list[FT_OPTIONS_N + 1];

    memset(options, 0, sizeof(*options));
    options->patience_min_s = 15;
    options->patience_max_s = 15;
    options->seed = 1;
    (void) ft_arrivals_parse(&options->arrivals, FT_CROWD_STAGES_TEXT);

    ft_options_getopt(list);

    for ( ;; ) {
        switch (getopt_long(argc, argv, "", list, &index)) {

        case -1:
            if (optind < argc) {
                fprintf(stderr, "flash-crowd: \"%s\" is no option;"
                        " \"flash-crowd --help\" lists them\n", argv[optind]);
                return FT_OPTIONS_BAD;
            }

            return ft_options_finish(options);

        case 0:
            if (ft_option_table[index].set == NULL) {
                ft_options_help();
                return FT_OPTIONS_HELP;
            }

            if (ft_options_set(options, &ft_option_table[index], optarg)
                != FT_OPTIONS_OK)
            {
                return FT_OPTIONS_BAD;
            }

            break;

        default:
            fprintf(stderr, "\"flash-crowd --help\" lists the options\n");
            return FT_OPTIONS_BAD;
        }
    }
}
