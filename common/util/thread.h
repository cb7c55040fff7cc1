/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads beside the main one. */
#pragma once

#include <pthread.h>
#include <stdint.h>

/* Runs @run(@userdata) in a thread that takes no signals: those are for the threads that were there
 * before. -errno. */
int thread_start(pthread_t *ret, void *(*run)(void *userdata), void *userdata);

/* CPU time that @thread, not yet joined, has used; 0 if that cannot be read. */
uint64_t thread_cpu_ns(pthread_t thread);
