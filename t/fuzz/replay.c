
/*
 * Runs a fuzz target over its corpus as a unit test, with each input truncated
 * at every length.  CORPUS is the directory.
 */

#include <dirent.h>
#include "unit.h"
#include "fuzz.h"


#define INPUT_MAX  65536


static size_t
read_input(const char *name, uint8_t *data)
{
    char     path[512];
    FILE    *file;
    size_t   n;

    snprintf(path, sizeof(path), "%s/%s", CORPUS, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    n = fread(data, 1, INPUT_MAX, file);
    fclose(file);

    return n;
}


static void
test_corpus(void **unused)
{
    DIR            *dir;
    size_t          size, len;
    unsigned        inputs;
    struct dirent  *entry;
    static uint8_t  data[INPUT_MAX];

    (void) unused;

    inputs = 0;
    dir = opendir(CORPUS);
    unit_check(dir != NULL, "opendir() \"" CORPUS "\" failed");

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }

        size = read_input(entry->d_name, data);
        inputs++;

        for (len = 0; len <= size; len++) {
            assert_int_equal(LLVMFuzzerTestOneInput(data, len), 0);
        }
    }

    closedir(dir);
    unit_check(inputs > 0, "no files in " CORPUS);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_corpus)
    };

    return cmocka_run_group_tests_name(CORPUS, tests, NULL, NULL);
}
