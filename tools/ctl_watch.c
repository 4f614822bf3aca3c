
/*
 * flashctl watch: the figures, again and again.  A terminal is drawn over with
 * plain ANSI sequences; anything else gets a line for each key and look.
 */

#include "ctl.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>


#define FT_WATCH_KEYS    64     /* whose paces are known */
#define FT_WATCH_TREND   60     /* looks in a key's trend */

#define FT_WATCH_END     "\033[K\r\n"


typedef struct {
    char        *name;
    int64_t      came;
    int64_t      admitted;
    int64_t      waiting[FT_WATCH_TREND];
    unsigned     looks;
} ft_watch_key_t;


typedef struct {
    const ft_ctl_options_t  *options;
    bool                     terminal;
    int64_t                  time_ms;       /* of this status, and the last */
    int64_t                  last_ms;
    ft_watch_key_t           key[FT_WATCH_KEYS];
    unsigned                 keys;
    FILE                    *out;
} ft_watch_t;


static volatile sig_atomic_t  ft_watch_ended;
static struct termios         ft_watch_before;
static bool                   ft_watch_changed;


static void
ft_watch_on_signal(int signo)
{
    (void) signo;

    ft_watch_ended = 1;
}


static void
ft_watch_restore(void)
{
    if (ft_watch_changed) {
        ft_watch_changed = false;
        (void) tcsetattr(STDIN_FILENO, TCSANOW, &ft_watch_before);
    }
}


/* Keys are heard at once, and not shown. */
static void
ft_watch_listen(void)
{
    struct termios  now;

    if (!isatty(STDIN_FILENO)
        || tcgetattr(STDIN_FILENO, &ft_watch_before) == -1)
    {
        return;
    }

    now = ft_watch_before;
    now.c_lflag &= ~(tcflag_t) (ICANON|ECHO);

    if (tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0) {
        ft_watch_changed = true;
        (void) atexit(ft_watch_restore);
    }
}


static ft_watch_key_t *
ft_watch_find(ft_watch_t *watch, const char *zone, const char *key)
{
    char      name[512];
    unsigned  i;

    snprintf(name, sizeof(name), "%s %s", zone, key);

    for (i = 0; i < watch->keys; i++) {
        if (strcmp(watch->key[i].name, name) == 0) {
            return &watch->key[i];
        }
    }

    if (i == FT_WATCH_KEYS) {
        return NULL;
    }

    watch->key[i].name = strdup(name);

    if (watch->key[i].name == NULL) {
        return NULL;
    }

    watch->keys++;

    return &watch->key[i];
}


/* What came since the last look; false: this is the first one. */
static bool
ft_watch_pace(ft_watch_t *watch, ft_watch_key_t *k, json_t *state,
    ft_ctl_pace_t *pace)
{
    bool     known;
    int64_t  came, admitted, ms;

    came = ft_ctl_figure(state, "first_attempts");
    admitted = ft_ctl_figure(state, "admitted");
    ms = watch->time_ms - watch->last_ms;

    /* counts that go back are another life's */

    known = k->looks && ms > 0 && came >= k->came && admitted >= k->admitted;

    if (known) {
        pace->returned_milli = (came - k->came) * 1000000 / ms;
        pace->admitted_milli = (admitted - k->admitted) * 1000000 / ms;
    }

    k->came = came;
    k->admitted = admitted;
    k->waiting[k->looks++ % FT_WATCH_TREND] = ft_ctl_figure(state, "waiting");

    return known;
}


/* Who waited at each of the last looks, as a row of heights. */
static void
ft_watch_trend(ft_watch_t *watch, const ft_watch_key_t *k)
{
    int64_t      most, n;
    unsigned     i, first;

    static const char  heights[] = " .:-=+*#%@";

    most = 1;
    first = k->looks > FT_WATCH_TREND ? k->looks - FT_WATCH_TREND : 0;

    for (i = first; i < k->looks; i++) {
        n = k->waiting[i % FT_WATCH_TREND];
        most = n > most ? n : most;
    }

    fprintf(watch->out, "  [");

    for (i = first; i < first + FT_WATCH_TREND; i++) {
        n = i < k->looks ? k->waiting[i % FT_WATCH_TREND] : 0;
        fputc(heights[(n * 9 + most - 1) / most], watch->out);
    }

    fprintf(watch->out, "] of %lld" FT_WATCH_END, (long long) most);
}


static void
ft_watch_line(ft_watch_t *watch, const char *zone, const char *key,
    json_t *state, const ft_ctl_pace_t *pace)
{
    char       text[16];
    time_t     seconds;
    struct tm  tm;

    seconds = (time_t) (watch->time_ms / 1000);
    localtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);

    fprintf(watch->out, "%s ", text);
    ft_ctl_print_text(watch->out, zone);
    fputc(' ', watch->out);
    ft_ctl_print_text(watch->out, key);
    fprintf(watch->out, " waiting=%lld held=%lld inflight=%lld admitted=%lld "
            "wait_ms=%lld",
            (long long) ft_ctl_figure(state, "waiting"),
            (long long) ft_ctl_figure(state, "held"),
            (long long) ft_ctl_figure(state, "inflight"),
            (long long) ft_ctl_figure(state, "admitted"),
            (long long) ft_ctl_figure(state, "wait_ms"));

    if (pace) {
        fprintf(watch->out, " come/s=%lld.%lld admitted/s=%lld.%lld",
                (long long) (pace->returned_milli / 1000),
                (long long) (pace->returned_milli % 1000 / 100),
                (long long) (pace->admitted_milli / 1000),
                (long long) (pace->admitted_milli % 1000 / 100));
    }

    ft_ctl_print_opening(watch->out, state);
    fprintf(watch->out, "%s%s\n",
            json_is_true(json_object_get(state, "hold")) ? " hold" : "",
            json_is_true(json_object_get(state, "sold_out")) ? " sold_out"
                                                             : "");
}


static void
ft_watch_key(const char *zone, json_t *limits, const char *key, json_t *state,
    void *data)
{
    ft_watch_t      *watch;
    ft_ctl_pace_t    pace, *known;
    ft_watch_key_t  *k;

    watch = data;
    k = ft_watch_find(watch, zone, key);
    known = k && ft_watch_pace(watch, k, state, &pace) ? &pace : NULL;

    if (!watch->terminal) {
        ft_watch_line(watch, zone, key, state, known);
        return;
    }

    ft_ctl_print(watch->out, zone, limits, key, state, known, FT_WATCH_END);

    if (k) {
        ft_watch_trend(watch, k);
    }
}


/* As many lines as the terminal has: more would scroll it. */
static void
ft_watch_show(const char *text)
{
    unsigned         rows;
    const char      *end;
    struct winsize   size;

    rows = 24;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row) {
        rows = size.ws_row;
    }

    fputs("\033[H", stdout);

    while (rows-- > 1 && (end = strchr(text, '\n')) != NULL) {
        fwrite(text, 1, (size_t) (end + 1 - text), stdout);
        text = end + 1;
    }

    fputs("q ends\033[J", stdout);
    fflush(stdout);
}


/* Whether it worked; what did not is on stderr, under the figures. */
static int
ft_watch_look(ft_watch_t *watch)
{
    int      code;
    char    *text;
    json_t  *status;
    size_t   len;

    status = ft_ctl_look(watch->options, &code);

    if (status == NULL) {
        return code;
    }

    text = NULL;
    watch->last_ms = watch->time_ms;
    watch->time_ms = ft_ctl_figure(status, "time_ms");
    watch->out = open_memstream(&text, &len);

    if (watch->out == NULL) {
        json_decref(status);
        return FT_CTL_SILENT;
    }

    code = ft_ctl_each(watch->options, status, ft_watch_key, watch)
           ? FT_CTL_DONE : FT_CTL_REFUSED;

    fclose(watch->out);
    json_decref(status);

    if (code == FT_CTL_DONE && watch->terminal) {
        ft_watch_show(text);

    } else if (code == FT_CTL_DONE) {
        fputs(text, stdout);
        fflush(stdout);
    }

    free(text);

    return code;
}


/* Until the next look; true: the end was asked for. */
static bool
ft_watch_pause(const ft_watch_t *watch)
{
    int            n;
    char           c;
    struct pollfd  in = { .fd = STDIN_FILENO, .events = POLLIN };

    n = poll(&in, ft_watch_changed ? 1 : 0, (int) watch->options->interval_ms);

    if (n > 0 && read(STDIN_FILENO, &c, 1) == 1 && (c == 'q' || c == 'Q')) {
        ft_watch_ended = 1;
    }

    return ft_watch_ended;
}


int
ft_ctl_watch(const ft_ctl_options_t *options)
{
    int                code;
    long               looks;
    unsigned           i;
    ft_watch_t         watch;
    struct sigaction   action;

    memset(&watch, 0, sizeof(watch));
    watch.options = options;
    watch.terminal = isatty(STDOUT_FILENO);

    memset(&action, 0, sizeof(action));
    action.sa_handler = ft_watch_on_signal;
    (void) sigaction(SIGINT, &action, NULL);
    (void) sigaction(SIGTERM, &action, NULL);

    if (watch.terminal) {
        ft_watch_listen();
        fputs("\033[?25l\033[H\033[J", stdout);
    }

    looks = 0;

    do {
        code = ft_watch_look(&watch);

        /* once it has answered, it may be away for a moment */

        if (code != FT_CTL_DONE && watch.time_ms == 0) {
            break;
        }

    } while (++looks != options->count && !ft_watch_pause(&watch));

    if (watch.terminal) {
        fputs("\033[?25h\r\n", stdout);
    }

    ft_watch_restore();

    for (i = 0; i < watch.keys; i++) {
        free(watch.key[i].name);
    }

    return ft_watch_ended ? FT_CTL_DONE : code;
}
