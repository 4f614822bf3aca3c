#include "sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errmsg.h>


void
co_sql_begin(co_sql_t *sql, const char *tag)
{
    sql->tag = tag;
    sql->len = 0;
    sql->failed = 0;
}


void
co_sql_free(co_sql_t *sql)
{
    free(sql->text);
    memset(sql, 0, sizeof(*sql));
}


static int
co_sql_reserve(co_sql_t *sql, size_t len)
{
    char   *text;
    size_t  size;

    if (sql->failed) {
        return -1;
    }

    if (sql->len + len <= sql->size) {
        return 0;
    }

    size = (sql->len + len) * 2;
    text = realloc(sql->text, size);

    if (text == NULL) {
        sql->failed = 1;
        return -1;
    }

    sql->text = text;
    sql->size = size;

    return 0;
}


static void
co_sql_add_args(co_sql_t *sql, const char *format, va_list args)
{
    int      len;
    va_list  copy;

    va_copy(copy, args);
    len = vsnprintf(NULL, 0, format, copy);
    va_end(copy);

    if (co_sql_reserve(sql, (size_t) len + 1) == 0) {
        vsnprintf(sql->text + sql->len, (size_t) len + 1, format, args);
        sql->len += (size_t) len;
    }
}


void
co_sql_add(co_sql_t *sql, const char *format, ...)
{
    va_list  args;

    va_start(args, format);
    co_sql_add_args(sql, format, args);
    va_end(args);
}


void
co_sql_statement(co_sql_t *sql, const char *format, ...)
{
    va_list  args;

    va_start(args, format);
    co_sql_add_args(sql, format, args);
    va_end(args);

    co_sql_end(sql);
}


static void
co_sql_literal(co_sql_t *sql, const char *charset, const char *string)
{
    const unsigned char  *p = (const unsigned char *) string;

    co_sql_add(sql, "%s X'", charset);

    for ( /* void */ ; *p != '\0'; p++) {
        co_sql_add(sql, "%02x", *p);
    }

    co_sql_add(sql, "'");
}


void
co_sql_string(co_sql_t *sql, const char *string)
{
    co_sql_literal(sql, "_utf8mb4", string);
}


/* The column's character set: another one could not use the index. */
void
co_sql_id(co_sql_t *sql, const char *id)
{
    co_sql_literal(sql, "_ascii", id);
}


void
co_sql_end(co_sql_t *sql)
{
    co_sql_add(sql, " /*conn_tag='%s'*/;", sql->tag);
}


unsigned
co_sql_run(co_sql_t *sql, MYSQL *mysql, co_sql_row_pt row, void *data)
{
    int         which, status;
    MYSQL_RES  *result;
    MYSQL_ROW   columns;

    if (sql->failed) {
        return CR_OUT_OF_MEMORY;
    }

    /* a last semicolon would be an empty statement */
    status = mysql_real_query(mysql, sql->text, sql->len - 1);

    for (which = 0; status == 0; /* void */) {
        result = mysql_store_result(mysql);

        if (result != NULL) {
            while (row != NULL && (columns = mysql_fetch_row(result)) != NULL)
            {
                row(data, which, columns);
            }

            mysql_free_result(result);
            which++;

        } else if (mysql_errno(mysql) != 0) {
            break;
        }

        status = mysql_next_result(mysql);
    }

    return mysql_errno(mysql);
}


int64_t
co_sql_number(MYSQL_ROW row, int column)
{
    return row[column] != NULL ? strtoll(row[column], NULL, 10) : 0;
}
