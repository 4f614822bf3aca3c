/*
 * Statements for MySQL and MariaDB: built as text, sent several at a time,
 * and read row by row.
 *
 * Numbers go into the text as numbers and strings as hexadecimal, so nothing
 * that a client sent can be taken for SQL.  Every statement ends with a
 * comment, in sqlcommenter's form, that names the business process it belongs
 * to: the server shows it in its process list and its slow log.
 */

#ifndef CO_MYSQL_SQL_H
#define CO_MYSQL_SQL_H


#include <stddef.h>
#include <stdint.h>

#include <mysql.h>


typedef struct {
    const char  *tag;                            /* of a fixed set */
    char        *text;
    size_t       len;
    size_t       size;
    int          failed;                         /* out of memory */
} co_sql_t;


/* A row: result number "which" of the statements sent, counted from 0. */
typedef void (*co_sql_row_pt)(void *data, int which, MYSQL_ROW row);


/* "sql" is zero or has been used before; its text begins anew. */
void co_sql_begin(co_sql_t *sql, const char *tag);
void co_sql_free(co_sql_t *sql);

/* Adds to the text, as printf(). */
void co_sql_add(co_sql_t *sql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a string as a literal: of UTF-8, or of ASCII, as names are. */
void co_sql_string(co_sql_t *sql, const char *string);
void co_sql_id(co_sql_t *sql, const char *id);

/* Ends a statement: its comment, and what parts it from the next. */
void co_sql_end(co_sql_t *sql);

/*
 * Sends the statements in one round trip, and calls "row" (may be NULL) for
 * each row that comes back.  0, or the error of the first that failed; those
 * behind it were not run.
 */
unsigned co_sql_run(co_sql_t *sql, MYSQL *mysql, co_sql_row_pt row,
    void *data);

/* A column as a number; 0 for NULL. */
int64_t co_sql_number(MYSQL_ROW row, int column);


#endif /* CO_MYSQL_SQL_H */
