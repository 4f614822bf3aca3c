
#include "ft_rfc3339.h"


#define FT_DAY_S  86400


typedef struct {
    const char  *p;
    const char  *last;
    bool         good;
} ft_rfc3339_reader_t;


/* A number of a fixed number of digits, min .. max. */
static int64_t
ft_rfc3339_number(ft_rfc3339_reader_t *reader, unsigned digits, int64_t min, int64_t max)
{
    int64_t  n;

    n = 0;

    for ( /* void */ ; digits; digits--, reader->p++) {

        if (reader->p == reader->last
            || *reader->p < '0' || *reader->p > '9')
        {
            reader->good = false;
            return min;
        }

        n = n * 10 + (*reader->p - '0');
    }

    if (n < min || n > max) {
        reader->good = false;
        return min;
    }

    return n;
}


/* Skips the next character if it is one of these. */
static bool
ft_rfc3339_one_of(ft_rfc3339_reader_t *reader, const char *chars)
{
    if (reader->p == reader->last) {
        return false;
    }

    for ( /* void */ ; *chars; chars++) {

        if (*reader->p == *chars) {
            reader->p++;
            return true;
        }
    }

    return false;
}


static void
ft_rfc3339_require(ft_rfc3339_reader_t *reader, const char *chars)
{
    if (!ft_rfc3339_one_of(reader, chars)) {
        reader->good = false;
    }
}


static bool
ft_rfc3339_is_leap_year(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}


/* Days from 1970-01-01 to a date of 1970 or later. */
static int64_t
ft_rfc3339_days(ft_rfc3339_reader_t *reader)
{
    int64_t  year, month, day, leap, days;

    static const int  before[] = {
        0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365
    };

    year = ft_rfc3339_number(reader, 4, 1970, 9999);
    ft_rfc3339_require(reader, "-");
    month = ft_rfc3339_number(reader, 2, 1, 12);
    ft_rfc3339_require(reader, "-");

    leap = ft_rfc3339_is_leap_year(year);
    days = before[month] - before[month - 1] + (month == 2 ? leap : 0);
    day = ft_rfc3339_number(reader, 2, 1, days);

    /* leap days of the years before this one, less those before 1970 */

    days = (year - 1970) * 365 + (year - 1) / 4 - (year - 1) / 100
           + (year - 1) / 400 - 477;

    return days + before[month - 1] + (month > 2 ? leap : 0) + day - 1;
}


static int64_t
ft_rfc3339_fraction_ms(ft_rfc3339_reader_t *reader)
{
    int64_t  ms, unit;

    ms = ft_rfc3339_number(reader, 1, 0, 9) * 100;

    for (unit = 10; ft_rfc3339_one_of(reader, "0123456789"); unit /= 10) {
        ms += (reader->p[-1] - '0') * unit;
    }

    return ms;
}


static int64_t
ft_rfc3339_offset_s(ft_rfc3339_reader_t *reader)
{
    bool     west;
    int64_t  offset;

    if (ft_rfc3339_one_of(reader, "Zz")) {
        return 0;
    }

    west = ft_rfc3339_one_of(reader, "-");

    if (!west) {
        ft_rfc3339_require(reader, "+");
    }

    offset = ft_rfc3339_number(reader, 2, 0, 23) * 3600;
    ft_rfc3339_require(reader, ":");
    offset += ft_rfc3339_number(reader, 2, 0, 59) * 60;

    return west ? -offset : offset;
}


bool
ft_rfc3339_read(const char *text, size_t len, uint64_t *ms)
{
    int64_t      time_s, second, fraction;
    ft_rfc3339_reader_t  reader = { text, text + len, true };

    time_s = ft_rfc3339_days(&reader) * FT_DAY_S;
    ft_rfc3339_require(&reader, "Tt ");
    time_s += ft_rfc3339_number(&reader, 2, 0, 23) * 3600;
    ft_rfc3339_require(&reader, ":");
    time_s += ft_rfc3339_number(&reader, 2, 0, 59) * 60;
    ft_rfc3339_require(&reader, ":");
    second = ft_rfc3339_number(&reader, 2, 0, 60);
    time_s += second;

    fraction = ft_rfc3339_one_of(&reader, ".") ? ft_rfc3339_fraction_ms(&reader) : 0;
    time_s -= ft_rfc3339_offset_s(&reader);

    /* a leap second is the last one of a day in UTC; the epoch does not know it */

    if (!reader.good || reader.p != reader.last || time_s < 0
        || (second == 60 && time_s % FT_DAY_S != 0))
    {
        return false;
    }

    *ms = (uint64_t) (time_s * 1000 + fraction);

    return true;
}
