
/*
 * flashctl: the command line.
 */

#include "ctl.h"
#include "ctl_control.h"
#include "ctl_status.h"
#include "ctl_watch.h"
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>


#define CTL_URL  "http://127.0.0.1:8080"


typedef struct {
    ctl_options_t   options;
    const char     *command;
    const char     *rate;
} ctl_line_t;


static const char *const  ctl_commands[] = {
    "status", "watch", "rate", "pause", "open", "sold-out", "resume", "reset"
};


static const struct argp_option  ctl_option_list[] = {
    { "url", 'u', "URL", 0, "base URL: flash_throttle_status is at URL/status, "
      "flash_throttle_control at URL/control [$FLASHCTL_URL or " CTL_URL "]",
      0 },
    { "unix", 'x', "SOCKET", 0, "connect through a Unix domain socket", 0 },
    { "zone", 'z', "NAME", 0, "zone [status, watch: all; other commands: the "
      "only one]", 0 },
    { "key", 'k', "VALUE", 0, "value of the zone's key [status, watch: all; "
      "other commands: the only one]", 0 },
    { "new", 'n', NULL, 0, "allow a key that has had no requests yet", 0 },
    { "json", 'j', NULL, 0, "print the server's JSON", 0 },
    { "interval", 'i', "SECONDS", 0, "time between two samples of watch, 0.1 "
      "to 3600 [1]", 0 },
    { "count", 'c', "N", 0, "stop watch after N samples", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static void
ctl_argument(ctl_line_t *line, struct argp_state *state, const char *argument)
{
    size_t  i;

    if (line->command == NULL) {

        for (i = 0; i < sizeof(ctl_commands) / sizeof(ctl_commands[0]); i++) {
            if (strcmp(argument, ctl_commands[i]) == 0) {
                line->command = ctl_commands[i];
                return;
            }
        }

        argp_error(state, "unknown command \"%s\"", argument);

    } else if (strcmp(line->command, "rate") == 0 && line->rate == NULL) {
        line->rate = argument;

    } else {
        argp_error(state, "unexpected argument \"%s\" after \"%s\"", argument,
                   line->command);
    }
}


static error_t
ctl_parse(int key, char *argument, struct argp_state *state)
{
    ctl_line_t     *line;
    ctl_options_t  *options;

    line = state->input;
    options = &line->options;

    switch (key) {

    case 'u':
        options->url = option_url(state, "url", argument);
        return 0;

    case 'x':
        options->socket = argument;
        return 0;

    case 'z':
        options->zone = argument;
        return 0;

    case 'k':
        options->key = argument;
        return 0;

    case 'n':
        options->new_key = true;
        return 0;

    case 'j':
        options->json = true;
        return 0;

    case 'i':
        options->interval_ms = (long) (option_number(state, "interval",
                                                     argument, 0.1, 3600)
                                       * 1000 + 0.5);
        return 0;

    case 'c':
        options->count = (long) option_integer(state, "count", argument, 1,
                                               1000000000);
        return 0;

    case ARGP_KEY_ARG:
        ctl_argument(line, state, argument);
        return 0;

    case ARGP_KEY_END:

        if (line->command == NULL) {
            argp_error(state, "missing command");
        }

        if (strcmp(line->command, "rate") == 0 && line->rate == NULL) {
            argp_error(state, "missing argument of \"rate\"");
        }

        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static const struct argp  ctl_argp = {
    ctl_option_list, ctl_parse, "COMMAND [RATE]",
    "Shows and controls the zones of an nginx with flash_throttle."
    "\v"
    "Commands:\n"
    "  status      show the state of each key\n"
    "  watch       show it repeatedly; q quits\n"
    "  rate RATE   override the rate of the zone: 50r/s, 90r/m\n"
    "  pause       stop admissions: all shoppers queue\n"
    "  sold-out    answer all shoppers who wait with \"sold out\"\n"
    "  resume      withdraw pause and sold-out\n"
    "  open        resume, and open a sale before its opening time\n"
    "  reset       withdraw all overrides\n"
    "\n"
    "Exit status: 0 on success, 1 if the server refuses the request, 2 if the "
    "command line is invalid, 3 without a response from flash_throttle.",
    NULL, NULL, NULL
};


int
main(int argc, char **argv)
{
    int          code;
    const char  *url;
    ctl_line_t   line;

    memset(&line, 0, sizeof(line));

    url = getenv("FLASHCTL_URL");
    line.options.url = url != NULL && *url != '\0' ? url : CTL_URL;
    line.options.interval_ms = 1000;

    argp_err_exit_status = CTL_USAGE;
    argp_parse(&ctl_argp, argc, argv, 0, NULL, &line);

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "flashctl: curl_global_init() failed\n");
        return CTL_NO_RESPONSE;
    }

    if (strcmp(line.command, "status") == 0) {
        code = ctl_status_run(&line.options);

    } else if (strcmp(line.command, "watch") == 0) {
        code = ctl_watch_run(&line.options);

    } else {
        code = ctl_control_run(&line.options, line.command, line.rate);
    }

    curl_global_cleanup();

    return code;
}
