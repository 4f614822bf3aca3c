
/*
 * Unit tests with TAP output.
 */

#ifndef FT_TAP_H_INCLUDED
#define FT_TAP_H_INCLUDED


#include <stdbool.h>


/* Reports a test.  The name is a printf format. */
void ft_ok(bool good, const char *format, ...)
    __attribute__((format(printf, 2, 3)));


void ft_test_fairness(void);
void ft_test_events(void);
void ft_test_profile(void);
void ft_test_crowd(void);
void ft_test_figures(void);
void ft_test_idle(void);
void ft_test_log(void);


#endif /* FT_TAP_H_INCLUDED */
