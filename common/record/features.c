/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/features.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define BUILD_ID_HAS_SIZE (1u << 15) /* misc: the byte after the 20 is how many of them count */

struct span {
	const char *at, *end;
};

static bool take(struct span *s, void *p, size_t n)
{
	if ((size_t)(s->end - s->at) < n)
		return false;
	memcpy(p, s->at, n);
	s->at += n;
	return true;
}

/* u32 length, then that many bytes, in which the string ends. NULL if it is broken. */
static const char *take_string(struct span *s)
{
	const char *p;
	uint32_t n;

	if (!take(s, &n, 4) || n > (size_t)(s->end - s->at) || !memchr(s->at, '\0', n))
		return NULL;
	p = s->at;
	s->at += n;
	return p;
}

int features_init(struct features *features)
{
	*features = (struct features){ 0 };
	return strings_new(&features->strings);
}

void features_done(struct features *features)
{
	free(features->names);
	free(features->build_ids);
	strings_free(features->strings);
}

static int set_string(struct features *f, const char **field, struct span *s)
{
	const char *text = take_string(s);

	if (!text)
		return 0;
	*field = strings_intern(f->strings, text);
	return *field ? 0 : -ENOMEM;
}

static int read_event_names(struct features *f, struct span *s)
{
	uint32_t n, attr_bytes, n_ids;

	if (!take(s, &n, 4) || !take(s, &attr_bytes, 4))
		return 0;
	while (n-- > 0) {
		struct feature_name name = { 0 };
		const char *text;

		if (attr_bytes > (size_t)(s->end - s->at))
			return 0;
		s->at += attr_bytes;
		if (!take(s, &n_ids, 4))
			return 0;
		text = take_string(s);
		if (!text || n_ids > (size_t)(s->end - s->at) / 8)
			return 0;
		name.name = strings_intern(f->strings, text);
		name.ids = (const void *)s->at;
		name.n_ids = n_ids;
		s->at += 8 * (size_t)n_ids;
		if (!name.name || ARRAY_RESERVE(&f->names, &f->cap_names, f->n_names + 1) < 0)
			return -ENOMEM;
		f->names[f->n_names++] = name;
	}
	return 0;
}

/* Pairs of strings; of interest is branches=N. */
static bool read_caps(struct features *f, struct span *s)
{
	uint32_t n;

	if (!take(s, &n, 4))
		return false;
	while (n-- > 0) {
		const char *name = take_string(s), *value = name ? take_string(s) : NULL;

		if (!value)
			return false;
		if (strcmp(name, "branches") == 0 && f->depth == 0)
			f->depth = (uint32_t)strtoul(value, NULL, 10);
	}
	return true;
}

static void read_all_caps(struct features *f, struct span *s)
{
	uint32_t n;

	if (!take(s, &n, 4))
		return;
	while (n-- > 0)
		if (!read_caps(f, s) || !take_string(s))
			return;
}

int features_read_build_id(struct features *features, const struct perf_event_header *record,
			   size_t n)
{
	struct span s = { (const char *)record, (const char *)record + n };
	struct build_id_event b = { .n_build_id = sizeof(b.build_id) };
	struct perf_event_header header;
	uint8_t padding[4];
	int32_t pid;

	if (!take(&s, &header, sizeof(header)) || !take(&s, &pid, 4) ||
	    !take(&s, b.build_id, sizeof(b.build_id)) || !take(&s, padding, 4) ||
	    !memchr(s.at, '\0', (size_t)(s.end - s.at)))
		return 0;
	if (header.misc & BUILD_ID_HAS_SIZE && padding[0] <= sizeof(b.build_id))
		b.n_build_id = padding[0];
	b.kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == CPU_MODE_KERNEL;
	b.path = strings_intern(features->strings, s.at);
	if (!b.path || ARRAY_RESERVE(&features->build_ids, &features->cap_build_ids,
				     features->n_build_ids + 1) < 0)
		return -ENOMEM;
	features->build_ids[features->n_build_ids++] = b;
	return 0;
}

static int read_build_ids(struct features *f, struct span *s)
{
	struct perf_event_header header;
	int r;

	while ((size_t)(s->end - s->at) >= sizeof(header)) {
		memcpy(&header, s->at, sizeof(header));
		if (header.size < sizeof(header) || header.size > (size_t)(s->end - s->at))
			return 0;
		r = features_read_build_id(f, (const void *)s->at, header.size);
		if (r < 0)
			return r;
		s->at += header.size;
	}
	return 0;
}

int features_read(struct features *features, unsigned int feature, const void *p, size_t n)
{
	struct span s = { p, (const char *)p + n };
	uint32_t n_cpus[2];

	switch (feature) {
	case FEATURE_HOSTNAME:
		return set_string(features, &features->hostname, &s);
	case FEATURE_OSRELEASE:
		return set_string(features, &features->os_release, &s);
	case FEATURE_ARCH:
		return set_string(features, &features->architecture, &s);
	case FEATURE_CPUDESC:
		return set_string(features, &features->cpu, &s);
	case FEATURE_CPUID:
		return set_string(features, &features->cpuid, &s);
	case FEATURE_NRCPUS: /* that there are, that were on line */
		if (take(&s, n_cpus, sizeof(n_cpus)))
			features->n_cpus = n_cpus[1];
		return 0;
	case FEATURE_EVENT_DESC:
		return read_event_names(features, &s);
	case FEATURE_BUILD_ID:
		return read_build_ids(features, &s);
	case FEATURE_CPU_PMU_CAPS:
		read_caps(features, &s);
		return 0;
	case FEATURE_PMU_CAPS:
		read_all_caps(features, &s);
		return 0;
	}
	return 0;
}
