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

#include "common/util/cleanup.h"
#include "daemon/binary/build-ids.h"
#include "daemon/binary/process-file.h"

struct scan {
	proc_scan_handler handler;
	void *userdata;
	struct build_ids *build_ids;
	char *line; /* of getline() */
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

static bool skip_char(char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/*
 * Parses "55d0c4a2f000-55d0c4a34000 r-xp 00002000 fd:01 1573 /usr/bin/cat". False unless it is
 * executable. Changes @line, and borrows the path from it.
 */
static bool parse_mapping(char *line, struct mapping_event *ret)
{
	struct mapping_event m = { .executable = true };
	char *at = line;

	m.address = strtoull(at, &at, 16);
	if (!skip_char(&at, '-'))
		return false;
	m.n_bytes = strtoull(at, &at, 16) - m.address;
	if (strlen(at) < sizeof(" r-xp ") - 1 || at[3] != 'x')
		return false;
	m.file_offset = strtoull(at + sizeof(" r-xp ") - 1, &at, 16);
	m.major = (uint32_t)strtoul(at, &at, 16);
	if (!skip_char(&at, ':'))
		return false;
	m.minor = (uint32_t)strtoul(at, &at, 16);
	m.inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = '\0';
	process_file_decode(at);
	m.path = *at ? at : "//anon"; /* the name in records of the kernel */
	*ret = m;
	return true;
}

static int report_mapping(struct scan *scan, int32_t pid, const struct mapping_event *mapping)
{
	struct event e = { .kind = EVENT_MAPPING, .cpu = UINT32_MAX, .pid = pid, .tid = pid };
	int r;

	e.mapping = *mapping;
	r = build_ids_fill(scan->build_ids, pid, &e.mapping);
	return r < 0 ? r : scan->handler(&e, scan->userdata);
}

/* Reports the mappings of @path; NULL: all mappings. */
static int report_mappings(struct scan *scan, int32_t pid, const char *path)
{
	_cleanup_fclose_ FILE *f = NULL;
	struct mapping_event mapping;
	char name[32];
	int r = 0;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	while (f && r >= 0 && getline(&scan->line, &scan->n_line, f) > 0) {
		if (!parse_mapping(scan->line, &mapping))
			continue;
		if (!path || strcmp(path, mapping.path) == 0)
			r = report_mapping(scan, pid, &mapping);
	}
	return r;
}

/* The executable comes first: the first mapping of a process counts as its executable. */
static int report_process(struct scan *scan, int32_t pid)
{
	char name[32], path[4096];
	ssize_t n;
	int r;

	r = report_threads(scan, pid);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, path, sizeof(path) - 1);
	if (n <= 0) /* a thread of the kernel, or gone */
		return 0;
	path[n] = '\0';
	r = report_mappings(scan, pid, path);
	return r < 0 ? r : report_mappings(scan, pid, NULL);
}

int proc_scan_run(struct build_ids *build_ids, proc_scan_handler handler, void *userdata)
{
	struct scan scan = { .build_ids = build_ids, .handler = handler, .userdata = userdata };
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
