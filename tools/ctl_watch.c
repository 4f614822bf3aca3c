
#include "ctl_watch.h"
#include "ctl_json.h"
#include "ctl_print.h"
#include "ctl_status.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>


#define CTL_WATCH_KEYS     64   /* with rates and a history; others have none */
#define CTL_WATCH_SAMPLES  60   /* in the history of a key */

#define CTL_WATCH_EOL      "\033[K\r\n"


typedef struct {
    char        *name;
    int64_t      first_attempts;
    int64_t      admitted;
    int64_t      waiting[CTL_WATCH_SAMPLES];
    unsigned     samples;
} ctl_watch_key_t;


typedef struct {
    const ctl_options_t  *options;
    bool                  terminal;
    int64_t               time_ms;
    int64_t               last_ms;      /* time_ms of the previous sample */
    ctl_watch_key_t       keys[CTL_WATCH_KEYS];
    unsigned              nkeys;
    FILE                 *out;
} ctl_watch_t;


static volatile sig_atomic_t  ctl_watch_stop;
static struct termios         ctl_watch_termios;
static bool                   ctl_watch_raw;


static void
ctl_watch_on_signal(int signo)
{
    (void) signo;

    ctl_watch_stop = 1;
}


static void
ctl_watch_restore(void)
{
    if (ctl_watch_raw) {
        ctl_watch_raw = false;
        (void) tcsetattr(STDIN_FILENO, TCSANOW, &ctl_watch_termios);
    }
}


/* No line buffering, no echo. */
static void
ctl_watch_set_raw(void)
{
    struct termios  raw;

    if (!isatty(STDIN_FILENO)
        || tcgetattr(STDIN_FILENO, &ctl_watch_termios) == -1)
    {
        return;
    }

    raw = ctl_watch_termios;
    raw.c_lflag &= ~(tcflag_t) (ICANON|ECHO);

    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0) {
        ctl_watch_raw = true;
        (void) atexit(ctl_watch_restore);
    }
}


static ctl_watch_key_t *
ctl_watch_find(ctl_watch_t *watch, const char *zone, const char *key)
{
    char              name[512];
    unsigned          i;
    ctl_watch_key_t  *k;

    snprintf(name, sizeof(name), "%s %s", zone, key);

    for (i = 0; i < watch->nkeys; i++) {
        if (strcmp(watch->keys[i].name, name) == 0) {
            return &watch->keys[i];
        }
    }

    if (watch->nkeys == CTL_WATCH_KEYS) {
        return NULL;
    }

    k = &watch->keys[watch->nkeys];
    k->name = strdup(name);

    if (k->name == NULL) {
        return NULL;
    }

    watch->nkeys++;

    return k;
}


/* False: this is the first sample. */
static bool
ctl_watch_sample(ctl_watch_t *watch, ctl_watch_key_t *k, const json_t *state,
    ctl_print_rates_t *rates)
{
    bool     known;
    int64_t  first_attempts, admitted, ms;

    first_attempts = ctl_json_integer(state, "first_attempts");
    admitted = ctl_json_integer(state, "admitted");
    ms = watch->time_ms - watch->last_ms;

    /* counters that decrease belong to a new state of the key */

    known = k->samples > 0 && ms > 0 && first_attempts >= k->first_attempts
            && admitted >= k->admitted;

    if (known) {
        rates->first_attempts_milli = (first_attempts - k->first_attempts)
                                      * 1000000 / ms;
        rates->admitted_milli = (admitted - k->admitted) * 1000000 / ms;
    }

    k->first_attempts = first_attempts;
    k->admitted = admitted;
    k->waiting[k->samples++ % CTL_WATCH_SAMPLES] = ctl_json_integer(state,
                                                                "waiting");

    return known;
}


/* The waiting shoppers of the last samples, a character per sample. */
static void
ctl_watch_print_history(FILE *out, const ctl_watch_key_t *k)
{
    int64_t   max, n;
    unsigned  i, first;

    static const char  heights[] = " .:-=+*#%@";

    max = 1;
    first = k->samples > CTL_WATCH_SAMPLES ? k->samples - CTL_WATCH_SAMPLES : 0;

    for (i = first; i < k->samples; i++) {
        n = k->waiting[i % CTL_WATCH_SAMPLES];
        max = n > max ? n : max;
    }

    fprintf(out, "  [");

    for (i = first; i < first + CTL_WATCH_SAMPLES; i++) {
        n = i < k->samples ? k->waiting[i % CTL_WATCH_SAMPLES] : 0;
        fputc(heights[(n * 9 + max - 1) / max], out);
    }

    fprintf(out, "] max %lld" CTL_WATCH_EOL, (long long) max);
}


static void
ctl_watch_print_line(const ctl_watch_t *watch, const char *zone,
    const char *key, const json_t *state, const ctl_print_rates_t *rates)
{
    char       text[16];
    time_t     seconds;
    struct tm  tm;

    seconds = (time_t) (watch->time_ms / 1000);
    localtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);

    fprintf(watch->out, "%s ", text);
    ctl_print_text(watch->out, zone);
    fputc(' ', watch->out);
    ctl_print_text(watch->out, key);
    fprintf(watch->out, " waiting=%lld held=%lld inflight=%lld admitted=%lld "
            "wait_ms=%lld",
            (long long) ctl_json_integer(state, "waiting"),
            (long long) ctl_json_integer(state, "held"),
            (long long) ctl_json_integer(state, "inflight"),
            (long long) ctl_json_integer(state, "admitted"),
            (long long) ctl_json_integer(state, "wait_ms"));

    if (rates != NULL) {
        fprintf(watch->out, " first_attempts/s=%lld.%lld admitted/s=%lld.%lld",
                (long long) (rates->first_attempts_milli / 1000),
                (long long) (rates->first_attempts_milli % 1000 / 100),
                (long long) (rates->admitted_milli / 1000),
                (long long) (rates->admitted_milli % 1000 / 100));
    }

    ctl_print_opens(watch->out, state);
    fprintf(watch->out, "%s%s\n",
            ctl_json_flag(state, "paused") ? " paused" : "",
            ctl_json_flag(state, "sold_out") ? " sold_out" : "");
}


static void
ctl_watch_key(const char *zone, const json_t *limits, const char *key,
    const json_t *state, void *data)
{
    ctl_watch_t        *watch;
    ctl_watch_key_t    *k;
    ctl_print_rates_t   rates, *known;

    watch = data;
    k = ctl_watch_find(watch, zone, key);
    known = k != NULL && ctl_watch_sample(watch, k, state, &rates) ? &rates
                                                                   : NULL;

    if (!watch->terminal) {
        ctl_watch_print_line(watch, zone, key, state, known);
        return;
    }

    ctl_print_key(watch->out, zone, limits, key, state, known, CTL_WATCH_EOL);

    if (k != NULL) {
        ctl_watch_print_history(watch->out, k);
    }
}


/* At most the terminal's height: more lines would scroll it. */
static void
ctl_watch_redraw(const char *text)
{
    unsigned         rows;
    const char      *end;
    struct winsize   size;

    rows = 24;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row != 0) {
        rows = size.ws_row;
    }

    fputs("\033[H", stdout);

    while (rows-- > 1 && (end = strchr(text, '\n')) != NULL) {
        fwrite(text, 1, (size_t) (end + 1 - text), stdout);
        text = end + 1;
    }

    fputs("q quits\033[J", stdout);
    fflush(stdout);
}


static int
ctl_watch_show(ctl_watch_t *watch)
{
    int      code;
    char    *text;
    json_t  *status;
    size_t   len;

    status = ctl_status_fetch(watch->options, &code);
    if (status == NULL) {
        return code;
    }

    text = NULL;
    watch->last_ms = watch->time_ms;
    watch->time_ms = ctl_json_integer(status, "time_ms");
    watch->out = open_memstream(&text, &len);

    if (watch->out == NULL) {
        json_decref(status);
        return CTL_NO_RESPONSE;
    }

    code = ctl_status_each(watch->options, status, ctl_watch_key, watch)
           ? CTL_OK : CTL_REFUSED;

    fclose(watch->out);
    json_decref(status);

    if (code == CTL_OK && watch->terminal) {
        ctl_watch_redraw(text);

    } else if (code == CTL_OK) {
        fputs(text, stdout);
        fflush(stdout);
    }

    free(text);

    return code;
}


/* True: stop. */
static bool
ctl_watch_wait(const ctl_watch_t *watch)
{
    int            n;
    char           c;
    struct pollfd  in = { .fd = STDIN_FILENO, .events = POLLIN };

    n = poll(&in, ctl_watch_raw ? 1 : 0, (int) watch->options->interval_ms);

    if (n > 0 && read(STDIN_FILENO, &c, 1) == 1 && (c == 'q' || c == 'Q')) {
        ctl_watch_stop = 1;
    }

    return ctl_watch_stop;
}


int
ctl_watch_run(const ctl_options_t *options)
{
    int                code;
    long               samples;
    unsigned           i;
    ctl_watch_t        watch;
    struct sigaction   action;

    memset(&watch, 0, sizeof(watch));
    watch.options = options;
    watch.terminal = isatty(STDOUT_FILENO);

    memset(&action, 0, sizeof(action));
    action.sa_handler = ctl_watch_on_signal;
    (void) sigaction(SIGINT, &action, NULL);
    (void) sigaction(SIGTERM, &action, NULL);

    if (watch.terminal) {
        ctl_watch_set_raw();
        fputs("\033[?25l\033[H\033[J", stdout);
    }

    samples = 0;

    do {
        code = ctl_watch_show(&watch);

        /* only a failure of the first request ends the command */

        if (code != CTL_OK && watch.time_ms == 0) {
            break;
        }

    } while (++samples != options->count && !ctl_watch_wait(&watch));

    if (watch.terminal) {
        fputs("\033[?25h\r\n", stdout);
    }

    ctl_watch_restore();

    for (i = 0; i < watch.nkeys; i++) {
        free(watch.keys[i].name);
    }

    return ctl_watch_stop ? CTL_OK : code;
}
