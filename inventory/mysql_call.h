#ifndef CO_MYSQL_CALL_H
#define CO_MYSQL_CALL_H


#include "mysql_store.h"


/* Each executes the call of a job: "run" of co_pool_job_t. */
co_job_result_e co_mysql_call_apply(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_claim(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_release(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_expire(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_look(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_sell(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_reset(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_call_count(co_pool_job_t *job, co_lease_t *lease);


#endif /* CO_MYSQL_CALL_H */
