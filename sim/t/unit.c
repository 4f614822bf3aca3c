
/*
 * Unit tests of the simulator and of the fairness figures.
 */

#include "tap.h"

#include <stdarg.h>
#include <stdio.h>


static int  ft_tests;
static int  ft_failures;


void
ft_ok(bool good, const char *format, ...)
{
    va_list  args;

    ft_failures += !good;

    printf("%sok %d - ", good ? "" : "not ", ++ft_tests);

    va_start(args, format);
    vprintf(format, args);
    va_end(args);

    printf("\n");
}


int
main(void)
{
    ft_test_fairness();
    ft_test_events();
    ft_test_profile();
    ft_test_crowd();
    ft_test_figures();
    ft_test_idle();
    ft_test_log();

    printf("1..%d\n", ft_tests);

    return ft_failures > 0;
}
