/* MEMORY STATS, DOCTOR, PURGE and MALLOC-STATS (server_commands.c). */
#ifndef GT_API_REDIS_MEMORY_REPORTS_H
#define GT_API_REDIS_MEMORY_REPORTS_H

#include "api/redis/redis_command.h"

redis_run run_memory_stats, run_memory_doctor, run_memory_purge, run_memory_malloc_stats;

#endif
