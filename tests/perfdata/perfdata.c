/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfdata: writes perf.data files, for tests.
 *
 * A record is composed in a buffer of its own and appended to a 1 MiB buffer of the file when its
 * length is known, so that a gigabyte costs little more than the copying. Features are kept as
 * blobs, one for each section, until the end of the file: the header, which lies before the
 * records, is written last. In pipe form the same blobs become records at once.
 *
 * Records are in perfdata-record.c, features in perfdata-feature.c, and here is the file around
 * them.
 */
#include "tests/perfdata/private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_HEADER_ATTR 64 /* perf's own, not the kernel's */

#define SAMPLE_UNSUPPORTED (PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX)

struct file_section {
	uint64_t offset;
	uint64_t size;
};

struct file_header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	struct file_section attrs;
	struct file_section data;
	struct file_section event_types;
	uint64_t features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	struct file_section ids;
};

struct pipe_header {
	char magic[8];
	uint64_t size;
};

void perfdata_fail(struct perfdata *p, int error)
{
	if (!p->error)
		p->error = error;
}

static int write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size > 0) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= n;
	}
	return 0;
}

static void perfdata_flush(struct perfdata *p)
{
	int r;

	if (!p->error) {
		r = write_all(p->fd, p->buffer, p->n_buffered);
		if (r < 0)
			perfdata_fail(p, r);
	}
	p->n_buffered = 0;
}

void perfdata_write(struct perfdata *p, const void *data, size_t size)
{
	int r;

	if (p->error || size == 0)
		return;
	if (p->n_buffered + size > PERFDATA_BUFFER_BYTES)
		perfdata_flush(p);
	if (size > PERFDATA_BUFFER_BYTES) {
		r = write_all(p->fd, data, size);
		if (r < 0)
			perfdata_fail(p, r);
		return;
	}
	memcpy(p->buffer + p->n_buffered, data, size);
	p->n_buffered += size;
}

static void perfdata_begin_pipe(struct perfdata *p, const struct perfdata_event *events)
{
	struct pipe_header header = { .magic = "PERFILE2", .size = sizeof(header) };
	size_t i;

	perfdata_write(p, &header, sizeof(header));
	for (i = 0; i < p->n_attrs; i++) {
		record_begin(p, RECORD_HEADER_ATTR, 0);
		record_put(p, &p->attrs[i], sizeof(p->attrs[i]));
		record_put(p, events[i].ids, events[i].n_ids * sizeof(*events[i].ids));
		record_write(p);
	}
}

static void perfdata_begin_file(struct perfdata *p, const struct perfdata_event *events)
{
	struct file_header placeholder = { 0 };
	struct file_attr entry = { 0 };
	uint64_t offset = sizeof(placeholder) + p->n_attrs * sizeof(entry);
	size_t i;

	perfdata_write(p, &placeholder, sizeof(placeholder));
	for (i = 0; i < p->n_attrs; i++) {
		entry.attr = p->attrs[i];
		entry.ids.offset = offset;
		entry.ids.size = events[i].n_ids * sizeof(*events[i].ids);
		offset += entry.ids.size;
		perfdata_write(p, &entry, sizeof(entry));
	}
	for (i = 0; i < p->n_attrs; i++)
		perfdata_write(p, events[i].ids, events[i].n_ids * sizeof(*events[i].ids));
	p->data_offset = offset;
}

static void perfdata_write_features(struct perfdata *p)
{
	struct file_section section;
	uint64_t offset = p->data_offset + p->data_size;
	int i;

	for (i = 0; i < PERFDATA_LAST_FEATURE; i++)
		if (p->features[i].present)
			offset += sizeof(section);
	for (i = 0; i < PERFDATA_LAST_FEATURE; i++) {
		if (!p->features[i].present)
			continue;
		section = (struct file_section){ .offset = offset, .size = p->features[i].size };
		offset += section.size;
		perfdata_write(p, &section, sizeof(section));
	}
	for (i = 0; i < PERFDATA_LAST_FEATURE; i++)
		if (p->features[i].present)
			perfdata_write(p, p->features[i].data, p->features[i].size);
}

static int perfdata_write_header(struct perfdata *p)
{
	struct file_header header = {
		.magic = "PERFILE2",
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs = { .offset = sizeof(header),
			   .size = p->n_attrs * sizeof(struct file_attr) },
		.data = { .offset = p->data_offset, .size = p->data_size },
	};
	int i;

	for (i = 0; i < PERFDATA_LAST_FEATURE; i++)
		if (p->features[i].present)
			header.features[i / 64] |= 1ULL << (i % 64);
	if (pwrite(p->fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	return 0;
}

static int perfdata_check(const struct perfdata_event *events, size_t n_events)
{
	size_t i;

	assert(n_events > 0);
	for (i = 0; i < n_events; i++) {
		if (events[i].attr.sample_type & SAMPLE_UNSUPPORTED)
			return -EOPNOTSUPP;
		if (events[i].attr.sample_type & PERF_SAMPLE_READ && events[i].attr.read_format)
			return -EOPNOTSUPP;
	}
	return 0;
}

static int perfdata_open(struct perfdata *p, const char *path)
{
	if (strcmp(path, "-") == 0)
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		p->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return p->fd < 0 ? -errno : 0;
}

static int perfdata_copy_attrs(struct perfdata *p, const struct perfdata_event *events,
			       size_t n_events)
{
	size_t i;

	p->attrs = calloc(n_events, sizeof(*p->attrs));
	if (!p->attrs)
		return -ENOMEM;
	p->n_attrs = n_events;
	for (i = 0; i < n_events; i++) {
		p->attrs[i] = events[i].attr;
		p->attrs[i].size = sizeof(p->attrs[i]);
	}
	return 0;
}

int perfdata_new(struct perfdata **ret, const char *path, unsigned flags,
		 const struct perfdata_event *events, size_t n_events)
{
	struct perfdata *p;
	int r;

	r = perfdata_check(events, n_events);
	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->flags = flags;
	r = perfdata_open(p, path);
	if (r >= 0)
		r = perfdata_copy_attrs(p, events, n_events);
	if (r < 0) {
		perfdata_free(p);
		return r;
	}
	if (flags & PERFDATA_PIPE)
		perfdata_begin_pipe(p, events);
	else
		perfdata_begin_file(p, events);
	perfdata_set_own_features(p, events);
	*ret = p;
	return 0;
}

int perfdata_finish(struct perfdata *p)
{
	if (p->flags & PERFDATA_PIPE)
		perfdata_end_features(p);
	else
		perfdata_write_features(p);
	perfdata_flush(p);
	if (p->error || p->flags & PERFDATA_PIPE)
		return p->error;
	return perfdata_write_header(p);
}

struct perfdata *perfdata_free(struct perfdata *p)
{
	if (!p)
		return NULL;
	perfdata_free_features(p);
	if (p->fd >= 0)
		close(p->fd);
	free(p->attrs);
	free(p);
	return NULL;
}
