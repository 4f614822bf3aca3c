
#include "aimd.h"


void
ft_aimd_answer(ft_aimd_t *aimd, uint32_t target_ms, uint32_t took_ms,
    uint64_t now_ms)
{
    if (aimd->began_ms == 0) {
        aimd->began_ms = now_ms;
    }

    aimd->took_ms += took_ms;
    aimd->answers++;

    if (now_ms < aimd->began_ms + FT_AIMD_PERIOD_MS) {
        return;
    }

    if (aimd->took_ms > (uint64_t) target_ms * aimd->answers) {
        aimd->rate_milli = (uint32_t) ((uint64_t) aimd->rate_milli
                                       * FT_AIMD_DOWN_MILLI / 1000);

        if (aimd->rate_milli < FT_AIMD_UP_MILLI) {
            aimd->rate_milli = FT_AIMD_UP_MILLI;
        }

    } else {
        aimd->rate_milli += FT_AIMD_UP_MILLI;
    }

    aimd->began_ms = now_ms;
    aimd->took_ms = 0;
    aimd->answers = 0;
}
