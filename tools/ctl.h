
/*
 * flashctl: an operator's view of a sale, and orders for it.
 */

#ifndef FT_CTL_H_INCLUDED
#define FT_CTL_H_INCLUDED


#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>


/* exit codes */
#define FT_CTL_DONE     0
#define FT_CTL_REFUSED  1       /* the server said no, and why */
#define FT_CTL_USAGE    2
#define FT_CTL_SILENT   3       /* nobody answers, or not what was expected */


typedef struct {
    const char  *url;           /* "/status" and "/control" are below it */
    const char  *socket;        /* of a Unix domain, or NULL */
    const char  *zone;          /* NULL: the only one, or all of them */
    const char  *key;
    bool         fresh;         /* the key may be one that nobody asked for */
    bool         json;
    long         count;         /* of looks; 0: until it is ended */
    long         interval_ms;
} ft_ctl_options_t;


/* An answer; text is freed with ft_ctl_free(). */
typedef struct {
    long         status;        /* 0: there is none, see text */
    char        *text;
    size_t       len;
} ft_ctl_answer_t;


/* Asks for URL/name; with a body, posts it.  False: no memory. */
bool ft_ctl_ask(const ft_ctl_options_t *options, const char *name,
    const char *body, ft_ctl_answer_t *answer);
void ft_ctl_free(ft_ctl_answer_t *answer);

/* Says what is wrong with an answer; an exit code. */
int ft_ctl_complain(const ft_ctl_options_t *options, const char *name,
    const ft_ctl_answer_t *answer);

/* The status; NULL: an exit code is in *code, and what it is about was said. */
json_t *ft_ctl_look(const ft_ctl_options_t *options, int *code);

/* Gives an order: "hold"; for "rate", its value.  An exit code. */
int ft_ctl_order(const ft_ctl_options_t *options, const char *command,
    const char *rate);

/* Shows the figures once; as long as somebody looks.  Exit codes. */
int ft_ctl_status(const ft_ctl_options_t *options);
int ft_ctl_watch(const ft_ctl_options_t *options);

/*
 * Calls back for each key that was asked for.  False: there is no such zone or
 * key, which was said.
 */
typedef void (*ft_ctl_each_pt)(const char *zone, json_t *limits,
    const char *key, json_t *state, void *data);
bool ft_ctl_each(const ft_ctl_options_t *options, json_t *status,
    ft_ctl_each_pt each, void *data);

/*
 * A key may have bytes 0 ($binary_remote_addr), which libjansson takes in no
 * name: U+2400 stands for them in JSON that is read, as no byte is written so.
 * Marks them in a text of JSON, or has them back.
 */
void ft_ctl_mark(char *text, bool mark);

/* A figure of an object, 0 if it has none; as large as can be reckoned with. */
#define FT_CTL_FIGURE_MAX  INT64_C(9000000000000)

int64_t ft_ctl_figure(json_t *object, const char *name);

/*
 * Prints a key's figures.  What a second brought, if anything is known of it:
 * first attempts and admissions x 1000; NULL.  Each line is ended with `end`.
 */
typedef struct {
    int64_t      returned_milli;
    int64_t      admitted_milli;
} ft_ctl_pace_t;

void ft_ctl_print(FILE *out, const char *zone, json_t *limits,
    const char *key, json_t *state, const ft_ctl_pace_t *pace,
    const char *end);

/* When a sale opens that is not open yet: ", opens " and the time here. */
void ft_ctl_print_opening(FILE *out, json_t *state);

/* Text of others' making, without what a terminal would take for orders. */
void ft_ctl_print_text(FILE *out, const char *text);


#endif /* FT_CTL_H_INCLUDED */
