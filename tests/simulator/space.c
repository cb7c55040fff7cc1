/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * space: one address space: its executable mappings and its code.
 *
 * Mappings come from /proc/PID/maps, read again whenever a system call may have changed them.
 * [vsyscall] is left out, as the kernel has no MMAP2 record for it either.
 */
#include "tests/simulator/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/simulator/code.h"

int space_new(struct space **ret, pid_t pid, uint64_t image, bool with_data)
{
	struct space *s;
	char path[64];
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = code_new(&s->code, fd);
	if (r < 0) {
		free(s);
		return r;
	}
	s->n_refs = 1;
	s->image = image;
	s->with_data = with_data;
	*ret = s;
	return 0;
}

static void mappings_free(struct mapping *mappings, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(mappings[i].path);
	free(mappings);
}

struct space *space_ref(struct space *s)
{
	s->n_refs++;
	return s;
}

struct space *space_unref(struct space *s)
{
	if (!s || --s->n_refs > 0)
		return NULL;
	mappings_free(s->mappings, s->n_mappings);
	code_free(s->code);
	free(s);
	return NULL;
}

/* 1 if the line is of a mapping wanted, 0 if not, or -ENOMEM. */
static int mapping_parse(struct mapping *m, char *line, bool with_data)
{
	char perms[5], *path;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &m->start, &m->end, perms, &m->pgoff,
		   &m->maj, &m->min, &m->ino, &at) < 7)
		return 0;
	path = line + at;
	if (perms[2] != 'x' && !(with_data && path[0] == '/'))
		return 0;
	if (strcmp(path, "[vsyscall]") == 0)
		return 0;
	m->prot = (perms[2] == 'x' ? PROT_EXEC : 0) | (perms[0] == 'r' ? PROT_READ : 0) |
		  (perms[1] == 'w' ? PROT_WRITE : 0);
	m->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	m->path = strdup(*path ? path : "//anon");
	return m->path ? 1 : -ENOMEM;
}

static int mappings_read(FILE *f, bool with_data, struct mapping **ret, size_t *ret_n)
{
	struct mapping *all = NULL, *grown, m;
	char *line = NULL;
	size_t n = 0, size = 0;
	int r = 0;

	while (r >= 0 && getline(&line, &size, f) > 0) {
		r = mapping_parse(&m, line, with_data);
		if (r <= 0)
			continue;
		grown = reallocarray(all, n + 1, sizeof(*all));
		if (!grown) {
			free(m.path);
			r = -ENOMEM;
			break;
		}
		all = grown;
		all[n++] = m;
	}
	free(line);
	if (r < 0) {
		mappings_free(all, n);
		return r;
	}
	*ret = all;
	*ret_n = n;
	return 0;
}

static bool mapping_equal(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->ino == b->ino && a->prot == b->prot && strcmp(a->path, b->path) == 0;
}

static bool mappings_contain(const struct mapping *all, size_t n, const struct mapping *m)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (mapping_equal(&all[i], m))
			return true;
	return false;
}

/* What is still there of a mapping that changed gets its own bytes back. */
static void space_forget(struct space *s, const struct mapping *old)
{
	const struct mapping *m;
	size_t i;

	for (i = 0; i < s->n_mappings; i++) {
		m = &s->mappings[i];
		if (m->start >= old->end || old->start >= m->end || m->ino != old->ino)
			continue;
		if (m->ino && m->start - m->pgoff != old->start - old->pgoff)
			continue;
		code_unpatch_range(s->code, m->start, m->end);
	}
	code_forget(s->code, old->start, old->end);
}

int space_update(struct space *s, pid_t pid, space_on_mapping *on_mapping, void *ctx)
{
	struct mapping *old = s->mappings;
	size_t i, n_old = s->n_mappings;
	char path[64];
	FILE *f;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	r = mappings_read(f, s->with_data, &s->mappings, &s->n_mappings);
	fclose(f);
	if (r < 0)
		return r;
	for (i = 0; i < n_old; i++)
		if (!mappings_contain(s->mappings, s->n_mappings, &old[i]))
			space_forget(s, &old[i]);
	for (i = 0; i < s->n_mappings; i++)
		if (!mappings_contain(old, n_old, &s->mappings[i]))
			on_mapping(ctx, &s->mappings[i]);
	mappings_free(old, n_old);
	return 0;
}

bool space_overlaps(const struct space *s, uint64_t start, uint64_t end)
{
	size_t i;

	for (i = 0; i < s->n_mappings; i++)
		if (s->mappings[i].prot & PROT_EXEC && s->mappings[i].start < end &&
		    start < s->mappings[i].end)
			return true;
	return false;
}

int space_find_range(pid_t tid, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start, end;
	char line[512], path[64];
	int r = -ENOENT;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) != 2 || addr < start || addr >= end)
			continue;
		*ret_start = start;
		*ret_end = end;
		r = 0;
	}
	fclose(f);
	return r;
}
