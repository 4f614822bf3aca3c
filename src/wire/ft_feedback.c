
#include <string.h>
#include "ft_dict.h"
#include "ft_feedback.h"


static bool
ft_feedback_is(const ft_dict_member_t *member, const char *name)
{
    return member->len == strlen(name)
           && memcmp(member->name, name, member->len) == 0;
}


static void
ft_feedback_fault(ft_feedback_t *feedback, const ft_dict_member_t *member)
{
    feedback->fault = member->name;
    feedback->fault_len = member->len;
}


static void
ft_feedback_flag(ft_feedback_t *feedback, const ft_dict_member_t *member, bool *flag)
{
    if (member->kind != FT_DICT_BOOLEAN) {
        ft_feedback_fault(feedback, member);
        *flag = false;
        return;
    }

    *flag = member->yes;
}


static void
ft_feedback_member(ft_feedback_t *feedback, const ft_dict_member_t *member)
{
    if (ft_feedback_is(member, "sold-out")) {
        ft_feedback_flag(feedback, member, &feedback->sold_out);

    } else if (ft_feedback_is(member, "resume")) {
        ft_feedback_flag(feedback, member, &feedback->resume);

    } else if (ft_feedback_is(member, "done")) {
        ft_feedback_flag(feedback, member, &feedback->done);

    } else if (ft_feedback_is(member, "rate")) {

        if (member->kind != FT_DICT_NUMBER || member->milli < 1
            || member->milli > FT_RATE_MAX_MILLI)
        {
            ft_feedback_fault(feedback, member);
            feedback->rate_milli = 0;
            return;
        }

        feedback->rate_milli = (uint32_t) member->milli;
    }
}


bool
ft_feedback_read(ft_feedback_t *feedback, const char *text, size_t len)
{
    ft_dict_t         dict;
    ft_dict_member_t       member;
    ft_dict_answer_t  answer;

    memset(feedback, 0, sizeof(ft_feedback_t));

    dict = ft_dict(text, len);

    for ( ;; ) {
        answer = ft_dict_next(&dict, &member);

        if (answer != FT_DICT_MEMBER) {
            break;
        }

        ft_feedback_member(feedback, &member);
    }

    if (answer == FT_DICT_MALFORMED) {
        memset(feedback, 0, sizeof(ft_feedback_t));
        feedback->fault = dict.pos;
        feedback->fault_len = (size_t) (dict.end - dict.pos);
        return false;
    }

    if (feedback->sold_out && feedback->resume) {
        feedback->sold_out = false;
        feedback->resume = false;
        feedback->fault = "sold-out, resume";
        feedback->fault_len = sizeof("sold-out, resume") - 1;
    }

    return true;
}
