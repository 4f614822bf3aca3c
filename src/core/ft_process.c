
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ft_process.h"


#define FT_PROCESS_FIELDS  19   /* from the state to the start time, proc(5) */


uint64_t
ft_process_started(uint32_t pid)
{
    int          fd, i;
    char        *p, name[32], text[1024];
    ssize_t      n;

    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/stat", pid);

    fd = open(name, O_RDONLY|O_CLOEXEC);
    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, sizeof(text) - 1);

    (void) close(fd);

    if (n <= 0) {
        return 0;
    }

    text[n] = '\0';

    /* the command's name, in parentheses, may contain anything */

    p = strrchr(text, ')');

    for (i = 0; p && i <= FT_PROCESS_FIELDS; i++) {
        p = strchr(p + 1, ' ');
    }

    return p ? strtoull(p + 1, NULL, 10) : 0;
}


bool
ft_process_is_gone(uint32_t pid, uint64_t started)
{
    uint64_t  now;

    if (kill((pid_t) pid, 0) == -1 && errno == ESRCH) {
        return true;
    }

    if (started == 0) {
        return false;
    }

    now = ft_process_started(pid);

    return now != 0 && now != started;
}
