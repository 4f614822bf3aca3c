
#include <string.h>
#include "report_log.h"
#include "tap.h"


static bool
ft_read(ft_log_line_t *line, const char *text)
{
    return ft_log_read(line, text, strlen(text)) == FT_LOG_WHOLE;
}


static int64_t
ft_first(const char *text)
{
    ft_log_line_t  line;

    return ft_read(&line, text) ? line.first_us : -2;
}


void
ft_test_log(void)
{
    ft_log_line_t  line, other;

    ft_ok(ft_read(&line, "time=5.1 id=ab status=ADMITTED "
                  "first=1700000000.123 waited=2.5 code=200\n")
          && line.status == FT_LOG_ADMITTED && !line.dry_run && line.id != 0
          && line.first_us == INT64_C(1700000000123000)
          && line.waited_us == 2500000, "a line of the log");
    ft_ok(ft_read(&other, "waited= status=QUEUED_DRY_RUN x id=ab a=b=c")
          && other.status == FT_LOG_QUEUED && other.dry_run
          && other.id == line.id && other.waited_us == -1,
          "pairs in any order, among other text, of a dry run");
    ft_ok(ft_read(&other, "id=ac status=SOLD_OUT") && other.id != line.id
          && other.status == FT_LOG_SOLD_OUT, "another id, another status");
    ft_ok(ft_read(&other, "id=ac status=NEW") && other.status == FT_LOG_OTHER,
          "an unknown status");
    ft_ok(ft_log_read(&line, "id=ab status=ADMITTED first=17id=ac "
                      "status=QUEUED first=5", 62) == FT_LOG_TORN
          && ft_log_read(&line, "id=ab sttime=5 id=ac status=QUEUED", 34)
             == FT_LOG_TORN
          && ft_log_read(&line, "id=ab first=5", 13) == FT_LOG_FOREIGN,
          "truncated lines");

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
          "invalid times");
}
