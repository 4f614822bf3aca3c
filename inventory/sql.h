/*
 * Statements for MySQL and MariaDB: built as text, sent several at a time,
 * and read row by row.
 *
 * Strings are written as hexadecimal literals, so no input is parsed as SQL.
 * Every statement ends with a comment in sqlcommenter's form that names its
 * business process; the server shows it in its process list and slow log.
 */

#ifndef CO_SQL_H
#define CO_SQL_H


#include <stddef.h>
#include <stdint.h>

#include <mysql.h>


typedef struct {
    const char  *tag;                            /* business process */
    char        *text;
    size_t       len;
    size_t       size;
    int          failed;                         /* out of memory */
} co_sql_t;


/* Called for a row of result "which", counted from 0. */
typedef void (*co_sql_row_pt)(void *data, int which, MYSQL_ROW row);


/* Clears the text; "sql" is zero or has been used before. */
void co_sql_begin(co_sql_t *sql, const char *tag);
void co_sql_free(co_sql_t *sql);

/* Appends text, as printf(). */
void co_sql_add(co_sql_t *sql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a string literal: UTF-8 text, or an ASCII id. */
void co_sql_string(co_sql_t *sql, const char *string);
void co_sql_id(co_sql_t *sql, const char *id);

/* Ends a statement: appends its comment and a semicolon. */
void co_sql_end(co_sql_t *sql);

/* Appends a complete statement, as printf(), and ends it. */
void co_sql_statement(co_sql_t *sql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sends the statements in one round trip and calls "row" (may be NULL) for
 * each row.  Returns 0, or the error of the first statement that failed; the
 * statements after it are not executed.
 */
unsigned co_sql_run(co_sql_t *sql, MYSQL *mysql, co_sql_row_pt row,
    void *data);

/* Returns a column as a number; 0 for NULL. */
int64_t co_sql_number(MYSQL_ROW row, int column);


#endif /* CO_SQL_H */
