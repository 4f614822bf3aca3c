
/*
 * Common to the fuzz targets.  A target reads one input and aborts if a property
 * does not hold.  libFuzzer runs it (make fuzz-short), and replay.c runs it over
 * the corpus with any compiler.
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
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__,        \
                    #cond);                                                   \
            abort();                                                          \
        }                                                                     \
    } while (0)


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* an exact copy on the heap, so that ASan detects reads past its end */
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
