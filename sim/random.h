
/*
 * Reproducible pseudo-random numbers: xoshiro256** (Blackman and Vigna, 2018),
 * seeded by splitmix64.
 */

#ifndef FT_SIM_RANDOM_H_INCLUDED
#define FT_SIM_RANDOM_H_INCLUDED


#include <stdint.h>


typedef struct {
    uint64_t  s[4];
} ft_random_t;


static inline uint64_t
ft_random_split(uint64_t *x)
{
    uint64_t  z;

    z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);

    return z ^ (z >> 31);
}


/* Seeds one of the independent streams of a run. */
static inline void
ft_random_seed(ft_random_t *random, uint64_t seed, uint64_t run,
    uint64_t stream)
{
    int       i;
    uint64_t  x;

    x = seed;
    x = ft_random_split(&x) + run;
    x = ft_random_split(&x) + stream;

    for (i = 0; i < 4; i++) {
        random->s[i] = ft_random_split(&x);
    }
}


static inline uint64_t
ft_random_next(ft_random_t *random)
{
    uint64_t  *s, r, t;

    s = random->s;
    r = s[1] * 5;
    r = ((r << 7) | (r >> 57)) * 9;
    t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);

    return r;
}


/* Uniform in [0, 1). */
static inline double
ft_random_unit(ft_random_t *random)
{
    return (double) (ft_random_next(random) >> 11) * 0x1.0p-53;
}


/* Uniform in [from, to). */
static inline double
ft_random_between(ft_random_t *random, double from, double to)
{
    return from + (to - from) * ft_random_unit(random);
}


#endif /* FT_SIM_RANDOM_H_INCLUDED */
