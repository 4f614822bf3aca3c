#include "fault.h"

#include <stdlib.h>
#include <string.h>


int
co_fault_read(co_fault_t *fault, const char *value)
{
    char                *end;
    size_t               i, len;
    const char          *number;
    static const struct {
        const char      *name;
        co_fault_e       kind;
    } names[] = {
        { "lose:", CO_FAULT_LOSE },
        { "die-after-ledger:", CO_FAULT_AFTER_LEDGER },
        { "die-after-redis:", CO_FAULT_AFTER_REDIS }
    };

    memset(fault, 0, sizeof(*fault));

    if (value == NULL) {
        return 0;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        len = strlen(names[i].name);

        if (strncmp(value, names[i].name, len) != 0) {
            continue;
        }

        fault->kind = names[i].kind;
        number = value + len;

        if (fault->kind == CO_FAULT_LOSE) {
            fault->share = strtod(number, &end);

            /* refuses NaN as well */
            return end != number && *end == '\0' && fault->share >= 0
                   && fault->share <= 1 ? 0 : -1;
        }

        fault->claim = strtoll(number, &end, 10);

        return end != number && *end == '\0' && fault->claim > 0 ? 0 : -1;
    }

    return -1;
}
