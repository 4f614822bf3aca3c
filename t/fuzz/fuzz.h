
/*
 * What the fuzz targets share.  A target reads one input and aborts where a
 * property does not hold; libFuzzer drives it (make fuzz-short), or replay.c,
 * over the corpus, with any compiler.
 */

#ifndef FUZZ_H_INCLUDED
#define FUZZ_H_INCLUDED


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define fuzz_check(cond)                                                      \
    do {                                                                      \
        if (!(cond)) {                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,        \
                    #cond);                                                   \
            abort();                                                          \
        }                                                                     \
    } while (0)


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* a copy that ends where it ends, so that reading on is noticed */
static inline char *
fuzz_copy(const uint8_t *data, size_t size)
{
    char  *copy;

    copy = malloc(size ? size : 1);
    fuzz_check(copy != NULL);
    memcpy(copy, data, size);

    return copy;
}


#endif /* FUZZ_H_INCLUDED */
