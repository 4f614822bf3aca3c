
/*
 * Worker processes for tests: they share memory and can be killed.
 */

#ifndef PROCESS_H_INCLUDED
#define PROCESS_H_INCLUDED


#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"


/* Zeroed memory, shared with processes started later. */
static inline void *
process_memory(size_t size)
{
    void  *p;

    p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);

    return p;
}


/* Runs a function in a process that does not outlive the test. */
static inline pid_t
process_start(int (*run)(void *data), void *data)
{
    pid_t  pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid != -1);

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(run(data));
    }

    return pid;
}


/* The exit status; -signal if a signal ended the process. */
static inline int
process_end(pid_t pid)
{
    int    status;
    pid_t  p;

    do {
        p = waitpid(pid, &status, 0);
    } while (p == -1 && errno == EINTR);

    assert_int_equal(p, pid);

    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}


static inline void
process_kill(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(process_end(pid), -SIGKILL);
}


static inline int
process_idle(void *unused)
{
    (void) unused;

    while (pause() == -1) {
        /* void */
    }

    return 0;
}


#endif /* PROCESS_H_INCLUDED */
