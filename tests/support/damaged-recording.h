/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of damaged recordings: reads one, with force and without. After cmocka.h. */
#pragma once

#include <string.h>
#include <unistd.h>

#include "common/record/recording.h"
#include "tests/perfdata/example.h"

struct result {
	int error; /* of opening or reading */
	size_t n;  /* events, without those of build-ids */
	struct fault fault;
	struct recording_damage damage;
};

/* One line, that begins with the file and has an offset within it (or its end). */
static inline void check_line(const struct fault *fault, const char *path, size_t n_bytes)
{
	size_t n_path = strlen(path);
	const char *offset = strstr(fault->text, "offset ");

	assert_memory_equal(fault->text, path, n_path);
	assert_memory_equal(fault->text + n_path, ": ", 2);
	assert_null(strchr(fault->text, '\n'));
	if (n_bytes == 0)
		return; /* "is empty" */
	if (!offset)
		fail_msg("no offset: %s", fault->text);
	assert_true(strtoull(offset + strlen("offset "), NULL, 10) <= n_bytes);
}

static inline void read_bytes(const struct example *e, size_t n, bool force, struct result *ret)
{
	_cleanup_(recording_freep) struct recording *r = NULL;
	struct event event;
	char path[32];
	int fd;

	*ret = (struct result){ 0 };
	example_open(e, n, path, &fd);
	ret->error = recording_open(&r, path, force, &ret->fault);
	while (ret->error >= 0 && (ret->error = recording_next(r, &event, &ret->fault)) > 0)
		ret->n += event.kind != EVENT_BUILD_ID;
	if (ret->error < 0)
		check_line(&ret->fault, path, n);
	else if (recording_forced(r))
		ret->damage = *recording_forced(r);
	close(fd);
}

/* The file refused, and with force @n events of it. */
static inline void check_damaged(const struct example *e, size_t n_bytes, size_t n)
{
	struct result r;

	read_bytes(e, n_bytes, false, &r);
	assert_true(r.error < 0);
	read_bytes(e, n_bytes, true, &r);
	if (r.error < 0)
		fail_msg("with force: %s", r.fault.text);
	assert_int_equal(r.n, n);
	assert_true(r.damage.fault.text[0]);
	assert_null(strstr(r.damage.fault.text, "--force"));
	assert_true(r.damage.offset <= n_bytes);
}

/* Whatever one byte becomes: sound or refused in one line; and force never makes it worse. */
static inline void check_any_byte(struct example *e)
{
	static const uint8_t values[] = { 0, 0x7f, 0xff };

	for (size_t at = 0; at < e->n; at++) {
		char old = e->data[at];

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct result plain, forced;

			e->data[at] = (char)values[i];
			read_bytes(e, e->n, false, &plain);
			read_bytes(e, e->n, true, &forced);
			if (plain.error == 0) {
				assert_int_equal(forced.error, 0);
				assert_int_equal(forced.n, plain.n);
				assert_false(forced.damage.fault.text[0]);
			} else if (forced.error == 0) {
				assert_true(forced.n >= plain.n);
				assert_true(forced.damage.fault.text[0]);
			}
		}
		e->data[at] = old;
	}
}

static inline struct perf_event_header *record_of_type(const struct example *e, uint32_t type)
{
	size_t at = example_data_start(e);

	for (;;) {
		struct perf_event_header *h = (void *)(e->data + at);

		if (h->type == type)
			return h;
		at += h->size;
		assert_true(at < example_data_end(e));
	}
}

static inline size_t offset_of(const struct example *e, const struct perf_event_header *record)
{
	return (size_t)((const char *)record - e->data);
}
