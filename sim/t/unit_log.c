
#include <string.h>
#include "access_log.h"
#include "tap.h"


static bool
ft_read(access_log_line_t *line, const char *text)
{
    return access_log_parse(line, text, strlen(text)) == ACCESS_LOG_COMPLETE;
}


static bool
ft_same(access_log_text_t text, const char *other)
{
    return text.len == strlen(other) && memcmp(text.data, other, text.len) == 0;
}


static int64_t
ft_first(const char *text)
{
    access_log_line_t  line;

    return ft_read(&line, text) ? line.first_us : -2;
}


void
ft_test_log(void)
{
    access_log_line_t  line, other;

    ft_ok(ft_read(&line, "time=5.1 id=ab status=ADMITTED "
                  "first=1700000000.123 waited=2.5 code=200\n")
          && line.status == ACCESS_LOG_ADMITTED && !line.dry_run && ft_same(line.id, "ab")
          && line.first_us == INT64_C(1700000000123000)
          && line.waited_us == 2500000, "a line of the log");
    ft_ok(ft_read(&other, "waited= status=QUEUED_DRY_RUN x id=ab a=b=c")
          && other.status == ACCESS_LOG_QUEUED && other.dry_run
          && ft_same(other.id, "ab") && other.waited_us == -1,
          "pairs in any order, among others, of a dry run");
    ft_ok(ft_read(&other, "id=ac status=SOLD_OUT") && ft_same(other.id, "ac")
          && other.status == ACCESS_LOG_SOLD_OUT, "another id, another status");
    ft_ok(ft_read(&other, "id=ac status=NEW") && other.status == ACCESS_LOG_OTHER,
          "a status that is not known here");
    ft_ok(access_log_parse(&line, "id=ab status=ADMITTED first=17id=ac "
                           "status=QUEUED first=5", 62) == ACCESS_LOG_TORN
          && access_log_parse(&line, "id=ab sttime=5 id=ac status=QUEUED", 34)
             == ACCESS_LOG_TORN
          && access_log_parse(&line, "id=ab first=5", 13) == ACCESS_LOG_UNRELATED,
          "a line that was cut off, and another behind it");

    ft_ok(!ft_read(&line, "") && !ft_read(&line, "\n")
          && !ft_read(&line, "id=ab status=- first=1")
          && !ft_read(&line, "127.0.0.1 - - \"GET / HTTP/1.1\" 200"),
          "lines without a status");

    ft_ok(ft_first("status=PASSED first=7") == 7000000
          && ft_first("status=PASSED first=0.000001") == 1
          && ft_first("status=PASSED first=7.") == 7000000
          && ft_first("status=PASSED first=1.23456789") == 1234567,
          "times");
    ft_ok(ft_first("status=PASSED first=x") == -1
          && ft_first("status=PASSED first=.5") == -1
          && ft_first("status=PASSED first=1.2.3") == -1
          && ft_first("status=PASSED first=-1") == -1
          && ft_first("status=PASSED first=99999999999999999999") == -1,
          "what is no time");
}
