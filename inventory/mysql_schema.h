#ifndef CO_MYSQL_SCHEMA_H
#define CO_MYSQL_SCHEMA_H


#include "mysql_store.h"


/*
 * Creates missing tables, and the stock of a new shop.  Returns 0, or -1 with
 * the reason in "error" (CO_STORE_ERROR_LEN bytes).
 */
int co_mysql_schema_open(co_mysql_t *mysql, const co_store_conf_t *conf,
    co_store_found_t *found, char *error);


#endif /* CO_MYSQL_SCHEMA_H */
