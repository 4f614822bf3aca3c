
/*
 * flashctl: the command line.
 */

#include "ctl.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>


#define FT_CTL_URL  "http://127.0.0.1:8080"


typedef struct {
    ft_ctl_options_t   options;
    const char        *command;
    const char        *rate;
} ft_ctl_line_t;


static const char *const  ft_ctl_commands[] = {
    "status", "watch", "rate", "hold", "open", "sold-out", "resume", "reset"
};


static const struct argp_option  ft_ctl_option_table[] = {
    { "url", 'u', "URL", 0, "where flash_throttle_status is, at URL/status, "
      "and flash_throttle_control, at URL/control [$FLASHCTL_URL, or "
      FT_CTL_URL "]", 0 },
    { "unix", 'x', "SOCKET", 0, "through a Unix domain socket", 0 },
    { "zone", 'z', "NAME", 0, "the zone [the only one; for status and watch, "
      "all]", 0 },
    { "key", 'k', "VALUE", 0, "the value of its key [the same]", 0 },
    { "new", 'n', NULL, 0, "the key may be one that nobody has asked for", 0 },
    { "json", 'j', NULL, 0, "the server's answer as it is", 0 },
    { "interval", 'i', "SECONDS", 0, "between two looks of watch, 0.1 to 3600 "
      "[1]", 0 },
    { "count", 'c', "N", 0, "ends watch after so many looks", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static long
ft_ctl_number(struct argp_state *state, const char *name, const char *text,
    double least, double most, double scale)
{
    char    *end;
    double   n;

    errno = 0;
    n = strtod(text, &end);

    if (errno || end == text || *end || !(n >= least && n <= most)) {
        argp_error(state, "invalid --%s \"%s\", it must be %g to %g", name,
                   text, least, most);
    }

    return (long) (n * scale + 0.5);
}


/* A command and what it takes; argp_error() does not return. */
static void
ft_ctl_argument(ft_ctl_line_t *line, struct argp_state *state, char *argument)
{
    size_t  i;

    if (line->command == NULL) {

        for (i = 0; i < sizeof(ft_ctl_commands) / sizeof(*ft_ctl_commands);
             i++)
        {
            if (strcmp(argument, ft_ctl_commands[i]) == 0) {
                line->command = ft_ctl_commands[i];
                return;
            }
        }

        argp_error(state, "no such command: \"%s\"", argument);

    } else if (strcmp(line->command, "rate") == 0 && line->rate == NULL) {
        line->rate = argument;

    } else {
        argp_error(state, "\"%s\" takes no \"%s\"", line->command, argument);
    }
}


static error_t
ft_ctl_parse(int key, char *argument, struct argp_state *state)
{
    ft_ctl_line_t     *line;
    ft_ctl_options_t  *options;

    line = state->input;
    options = &line->options;

    switch (key) {

    case 'u':

        if (strncmp(argument, "http://", 7) != 0
            && strncmp(argument, "https://", 8) != 0)
        {
            argp_error(state, "invalid --url \"%s\", it must begin with "
                       "http:// or https://", argument);
        }

        options->url = argument;
        break;

    case 'x':
        options->socket = argument;
        break;

    case 'z':
        options->zone = argument;
        break;

    case 'k':
        options->key = argument;
        break;

    case 'n':
        options->fresh = true;
        break;

    case 'j':
        options->json = true;
        break;

    case 'i':
        options->interval_ms = ft_ctl_number(state, "interval", argument, 0.1,
                                             3600, 1000);
        break;

    case 'c':
        options->count = ft_ctl_number(state, "count", argument, 1, 1e9, 1);
        break;

    case ARGP_KEY_ARG:
        ft_ctl_argument(line, state, argument);
        break;

    case ARGP_KEY_END:

        if (line->command == NULL) {
            argp_error(state, "what? status, watch, rate, hold, open, sold-out, "
                       "resume or reset");
        }

        if (strcmp(line->command, "rate") == 0 && line->rate == NULL) {
            argp_error(state, "which rate? as in \"rate 50r/s\"");
        }

        break;

    default:
        return ARGP_ERR_UNKNOWN;
    }

    return 0;
}


static const struct argp  ft_ctl_argp = {
    ft_ctl_option_table, ft_ctl_parse, "COMMAND [RATE]",
    "Looks at a sale behind flash_throttle, and gives orders for it."
    "\v"
    "  status      the figures of each key\n"
    "  watch       the same, live; q ends it\n"
    "  rate RATE   lets in so many in place of the zone's, as in 50r/s or 90r/m\n"
    "  hold        lets nobody in: everyone queues\n"
    "  sold-out    tells everyone who waits that everything is sold\n"
    "  resume      takes back hold and sold-out\n"
    "  open        the same, and opens what was to open later\n"
    "  reset       takes back everything that was ordered\n"
    "\n"
    "Exit status: 0, done; 1, refused; 2, a wrong command line; 3, no answer, or "
    "not flash_throttle's.",
    NULL, NULL, NULL
};


int
main(int argc, char **argv)
{
    int            code;
    const char    *url;
    ft_ctl_line_t  line;

    memset(&line, 0, sizeof(line));

    url = getenv("FLASHCTL_URL");
    line.options.url = url && *url ? url : FT_CTL_URL;
    line.options.interval_ms = 1000;

    argp_err_exit_status = FT_CTL_USAGE;
    argp_parse(&ft_ctl_argp, argc, argv, 0, NULL, &line);

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "flashctl: libcurl does not start\n");
        return FT_CTL_SILENT;
    }

    if (strcmp(line.command, "status") == 0) {
        code = ft_ctl_status(&line.options);

    } else if (strcmp(line.command, "watch") == 0) {
        code = ft_ctl_watch(&line.options);

    } else {
        code = ft_ctl_order(&line.options, line.command, line.rate);
    }

    curl_global_cleanup();

    return code;
}
