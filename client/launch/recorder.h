/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records the user code of one process and of all that it starts, by perf events of its own, into
 * an unnamed file in the format of perf.data. It takes no privilege where
 * kernel.perf_event_paranoid is 2 or less.
 */
#pragma once

#include <sys/types.h>

#include "client/launch/rings.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

#define RECORDER_FREQUENCY 997 /* a prime: not in step with what the program does */

struct recorder;

/*
 * Opens the events of @pid, which begin to count when it executes a program: cycles with branch
 * records, cycles, or the CPU's clock, the first that the machine has. -errno and @fault, which
 * says what is missing.
 */
int recorder_new(struct recorder **ret, pid_t pid, struct fault *fault);
struct recorder *recorder_free(struct recorder *recorder);
DEFINE_CLEANUP(struct recorder *, recorder_free);

/* To poll: readable when there is something to write. */
const struct rings *recorder_rings(const struct recorder *recorder);

/* Writes what is there. -EFBIG once the file has reached its limit; another -errno and @fault. */
int recorder_drain(struct recorder *recorder, struct fault *fault);

/* *@ret is the path of what has been recorded until now, as recorder_finish() has it. It goes on.
 */
int recorder_pause(struct recorder *recorder, const char **ret, struct fault *fault);

/* Ends the recording. *@ret is the file's path, which is valid as long as the recorder. */
int recorder_finish(struct recorder *recorder, const char **ret, struct fault *fault);
