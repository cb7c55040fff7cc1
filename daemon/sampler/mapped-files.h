/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that processes map, on their way from the collector to the namer, which opens them
 * while the processes still exist.
 *
 * The collector never waits here: what does not fit is dropped and counted. A process gets a small
 * part of the places, so that one which maps without end takes none of the others'. A file that was
 * put a moment ago is not put again: a scan of /proc finds the same libraries in all processes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/util/macro.h"

#define MAPPED_FILES_MAX         4096 /* that wait */
#define MAPPED_FILES_PER_PROCESS 128  /* of them; processes with equal numbers modulo 1024 share */

struct mapped_file {
	int32_t pid;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint64_t start, end;
	char path[]; /* as the process sees it, perhaps with " (deleted)" */
};

struct mapped_files;

/* 0 or -errno. */
int mapped_files_new(struct mapped_files **ret);
struct mapped_files *mapped_files_free(struct mapped_files *files);
DEFINE_CLEANUP(struct mapped_files *, mapped_files_free);

/* Puts the mapping of a file; ignores everything else. The collector alone calls it, and the next.
 */
void mapped_files_put(struct mapped_files *files, int32_t pid, const struct mapping_event *mapping);

/*
 * Wakes the namer, if any were put since: at once for a new file, at the third
 * call for others, which it has open but for those that have changed. Many that are put in a row
 * wake it now and then.
 */
void mapped_files_tell(struct mapped_files *files);

/* The one that waits longest, for the caller to free; NULL: none waits. */
struct mapped_file *mapped_files_take(struct mapped_files *files);

/* The same for a certain file; the mapping that waits longest. */
struct mapped_file *mapped_files_take_file(struct mapped_files *files, uint32_t major,
					   uint32_t minor, uint64_t inode, uint64_t generation);

/* How many new files were put, ever: those not put before, or not for two minutes. The collector
 * alone calls it. */
uint64_t mapped_files_count_new(const struct mapped_files *files);

/* An eventfd: readable while one waits that was told of. */
int mapped_files_fd(const struct mapped_files *files);

/* The number of those dropped so far. */
uint64_t mapped_files_dropped(const struct mapped_files *files);
