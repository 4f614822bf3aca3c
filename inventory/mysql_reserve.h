#ifndef CO_MYSQL_RESERVE_H
#define CO_MYSQL_RESERVE_H


#include "mysql_store.h"


/* Executes a RESERVE call: "run" of co_pool_job_t. */
co_job_result_e co_mysql_reserve(co_pool_job_t *job, co_lease_t *lease);


#endif /* CO_MYSQL_RESERVE_H */
