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

int space_new(struct space **ret, pid_t pid, uint64_t image)
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

/* 1 if the line is of an executable mapping, 0 if not, or -ENOMEM. */
static int mapping_parse(struct mapping *m, char *line)
{
	char perms[5], *path;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &m->start, &m->end, perms, &m->pgoff,
		   &m->maj, &m->min, &m->ino, &at) < 7)
		return 0;
	path = line + at;
	if (perms[2] != 'x' || strcmp(path, "[vsyscall]") == 0)
		return 0;
	m->prot =
		PROT_EXEC | (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0);
	m->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	m->path = strdup(*path ? path : "//anon");
	return m->path ? 1 : -ENOMEM;
}

static int mappings_read(FILE *f, struct mapping **ret, size_t *ret_n)
{
	struct mapping *all = NULL, *grown, m;
	char *line = NULL;
	size_t n = 0, size = 0;
	int r = 0;

	while (r >= 0 && getline(&line, &size, f) > 0) {
		r = mapping_parse(&m, line);
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
	r = mappings_read(f, &s->mappings, &s->n_mappings);
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
		if (s->mappings[i].start < end && start < s->mappings[i].end)
			return true;
	return false;
}
