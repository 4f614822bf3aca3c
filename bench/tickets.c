
/*
 * Prints N signed tickets or passes, one per line, made from the secret alone.
 * Their timestamps are spread evenly over the time before now, and no census
 * has counted them.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ft_ticket.h"


#define TICKETS_AHEAD_MS  60000     /* advised retry interval */
#define TICKETS_PASS_MS   36000000


static void __attribute__((noreturn))
tickets_usage(void)
{
    fprintf(stderr, "usage: tickets -n number -s secret -z zone -k key "
                    "[-a ms] [-p]\n"
                    "  -a ms  age of the oldest timestamp (default 60000)\n"
                    "  -p     print passes\n");
    exit(1);
}


int
main(int argc, char **argv)
{
    int                   c;
    char                  text[FT_TICKET_LEN];
    uint64_t              i, n, now_ms, oldest_ms;
    ft_secret_t           secret;
    ft_ticket_t           ticket;
    ft_keyring_t         *ring;
    struct timespec       t;
    ft_ticket_context_t   context;

    n = 0;
    oldest_ms = 60000;
    memset(&secret, 0, sizeof(secret));
    memset(&ticket, 0, sizeof(ticket));
    memset(&context, 0, sizeof(context));
    ticket.kind = FT_TICKET_WAIT;

    while ((c = getopt(argc, argv, "n:s:z:k:a:p")) != -1) {

        switch (c) {
        case 'n': n = strtoull(optarg, NULL, 10); break;
        case 'a': oldest_ms = strtoull(optarg, NULL, 10); break;
        case 'p': ticket.kind = FT_TICKET_PASS; break;
        case 's':
            secret.data = optarg;
            secret.len = strlen(optarg);
            break;
        case 'z':
            context.zone = optarg;
            context.zone_len = strlen(optarg);
            break;
        case 'k':
            context.key = optarg;
            context.key_len = strlen(optarg);
            break;
        default:
            tickets_usage();
        }
    }

    if (n == 0 || secret.data == NULL || context.zone == NULL
        || context.key == NULL)
    {
        tickets_usage();
    }

    ring = ft_keyring_create(&secret, 1);
    if (ring == NULL) {
        return 1;
    }

    clock_gettime(CLOCK_REALTIME, &t);
    now_ms = (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;

    for (i = 0; i < n; i++) {
        ticket.id = (now_ms ^ i) * UINT64_C(0x9e3779b97f4a7c15);
        ticket.first_ms = now_ms - oldest_ms + oldest_ms * i / n;
        ticket.seen_ms = now_ms;
        ticket.due_ms = now_ms + (ticket.kind == FT_TICKET_PASS
                                  ? TICKETS_PASS_MS : TICKETS_AHEAD_MS);

        ft_ticket_sign(ring, &context, &ticket, text);
        printf("%.*s\n", FT_TICKET_LEN, text);
    }

    ft_keyring_free(ring);

    return 0;
}
