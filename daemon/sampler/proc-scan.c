/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that ends during the scan is skipped: the kernel reports its exit. */
#include "daemon/sampler/proc-scan.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/opener/maps-line.h"

struct scan {
	proc_scan_handler handler;
	void *userdata;
	struct opener *opener;
	const struct mappings *mappings;
	uint64_t until_us; /* maps are read; 0: the opener may have to start first */
	char *line;        /* of getline() */
	size_t n_line;
};

static void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

/* The next entry of @dir that is a number, as the entries of tasks are; 0 at its end. */
static int32_t next_number(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		char *end;
		long n = strtol(entry->d_name, &end, 10);

		if (*end == '\0' && n > 0 && n <= INT32_MAX)
			return (int32_t)n;
	}
	return 0;
}

/* Reads the name of a thread. False: the thread has ended. */
static bool read_comm(char *ret, size_t n, int32_t pid, int32_t tid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	f = fopen(path, "re");
	if (!f || !fgets(ret, (int)n, f))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* Reports an exec of the process, which ends all that was known about it. */
static int report_thread(struct scan *scan, int32_t pid, int32_t tid)
{
	struct event e = { .kind = EVENT_COMM, .cpu = UINT32_MAX, .pid = pid, .tid = tid };
	char comm[64];

	if (!read_comm(comm, sizeof(comm), pid, tid))
		return 0;
	e.comm.comm = comm;
	e.comm.exec = pid == tid;
	return scan->handler(&e, scan->userdata);
}

static int report_threads(struct scan *scan, int32_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[32];
	int32_t tid;
	int r;

	r = report_thread(scan, pid, pid);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (tid = next_number(dir)) != 0) {
		r = tid == pid ? 0 : report_thread(scan, pid, tid);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Parses a line of /proc/PID/maps. False unless it is of executable memory. Borrows from @line. */
static bool parse_mapping(char *line, struct mapping_event *ret)
{
	struct maps_line m;

	if (!maps_line_parse(line, &m) || !m.executable)
		return false;
	*ret = (struct mapping_event){
		.address = m.start,
		.n_bytes = m.end - m.start,
		.file_offset = m.file_offset,
		.path = *m.path ? m.path : "//anon", /* the name in records of the kernel */
		.major = m.major,
		.minor = m.minor,
		.inode = m.inode,
		.executable = true,
	};
	return true;
}

static int report_mapping(struct scan *scan, int32_t pid, const struct mapping_event *mapping)
{
	struct event e = { .kind = EVENT_MAPPING, .cpu = UINT32_MAX, .pid = pid, .tid = pid };

	e.mapping = *mapping;
	mappings_note(scan->mappings, pid, &e.mapping);
	return scan->handler(&e, scan->userdata);
}

/* Reports the mappings in @maps of @path; NULL: all mappings. */
static int report_mappings(struct scan *scan, int32_t pid, FILE *maps, const char *path)
{
	struct mapping_event mapping;
	int r = 0;

	rewind(maps);
	while (r >= 0 && getline(&scan->line, &scan->n_line, maps) > 0) {
		if (!parse_mapping(scan->line, &mapping))
			continue;
		if (!path || strcmp(path, mapping.path) == 0)
			r = report_mapping(scan, pid, &mapping);
	}
	return r;
}

/* What the process has mapped; NULL: nothing, it has ended, or there is no time left to ask. */
static FILE *open_maps(struct scan *scan, int32_t pid, char *ret_executable, size_t n)
{
	FILE *maps;
	int fd;

	if (scan->until_us > 0 && clock_us(CLOCK_MONOTONIC) >= scan->until_us)
		return NULL;
	fd = opener_open_maps(scan->opener, pid, ret_executable, n);
	if (scan->until_us == 0)
		scan->until_us = clock_us(CLOCK_MONOTONIC) + PROC_SCAN_MAX_US;
	maps = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !maps)
		close(fd);
	return maps;
}

/* The executable comes first: the first mapping of a process counts as its executable. */
static int report_process(struct scan *scan, int32_t pid)
{
	_cleanup_fclose_ FILE *maps = NULL;
	char path[4096];
	int r;

	r = report_threads(scan, pid);
	if (r < 0)
		return r;
	maps = open_maps(scan, pid, path, sizeof(path));
	if (!maps || !*path) /* a thread of the kernel has none */
		return 0;
	r = report_mappings(scan, pid, maps, path);
	return r < 0 ? r : report_mappings(scan, pid, maps, NULL);
}

int proc_scan_run(struct opener *opener, const struct mappings *mappings, proc_scan_handler handler,
		  void *userdata)
{
	struct scan scan = {
		.opener = opener,
		.mappings = mappings,
		.handler = handler,
		.userdata = userdata,
	};
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	int32_t pid;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (pid = next_number(dir)) != 0)
		r = report_process(&scan, pid);
	free(scan.line);
	return r < 0 ? r : 0;
}
