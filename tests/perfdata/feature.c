/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfdata, its header features: host, command line, event names, build-ids, capabilities of the
 * PMU.
 *
 * Each is a blob, kept until the end of a file, or made a record at once in a pipe. Their formats
 * are those of tools/perf/Documentation/perf.data-file-format.txt of the kernel; BUILD_ID is a
 * series of records of its own.
 */
#include "tests/perfdata/private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ALIGN         64
#define BUILD_ID_BYTES     20
#define MISC_BUILD_ID_SIZE (1 << 15) /* the build-id's length is given */

/* Record types of perf's own, not the kernel's (tools/lib/perf/include/perf/event.h). */
#define RECORD_HEADER_BUILD_ID 67
#define RECORD_HEADER_FEATURE  80

static int blob_put(struct blob *b, const void *data, size_t size)
{
	size_t n = b->allocated ? b->allocated : 256;
	char *grown;

	while (n < b->size + size)
		n *= 2;
	if (n > b->allocated) {
		grown = realloc(b->data, n);
		if (!grown)
			return -ENOMEM;
		b->data = grown;
		b->allocated = n;
	}
	if (size > 0)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	return 0;
}

static int blob_put_u32(struct blob *b, uint32_t value)
{
	return blob_put(b, &value, sizeof(value));
}

/* perf's strings: a length, then the text padded with zeros to 64 bytes. */
static int blob_put_string(struct blob *b, const char *text)
{
	static const char zeros[NAME_ALIGN];
	size_t n = strlen(text) + 1;
	size_t padded = (n + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
	int r;

	r = blob_put_u32(b, padded);
	if (r < 0)
		return r;
	r = blob_put(b, text, n);
	if (r < 0)
		return r;
	return blob_put(b, zeros, padded - n);
}

static void blob_done(struct blob *b)
{
	free(b->data);
	*b = (struct blob){ 0 };
}

/* In a pipe the reader must know that no features follow, before the first record that needs
 * them. */
void perfdata_end_features(struct perfdata *p)
{
	_Alignas(8) struct {
		struct perf_event_header header;
		uint64_t feature;
	} end = {
		.header = { .type = RECORD_HEADER_FEATURE, .size = sizeof(end) },
		.feature = PERFDATA_LAST_FEATURE,
	};

	if (!(p->flags & PERFDATA_PIPE) || p->features_done)
		return;
	p->features_done = true;
	perfdata_write(p, &end, sizeof(end));
}

static void pipe_write_feature(struct perfdata *p, enum perfdata_feature feature)
{
	struct blob *b = &p->features[feature];

	if (p->features_done)
		return;
	record_begin(p, RECORD_HEADER_FEATURE, 0);
	record_put_u64(p, feature);
	record_put(p, b->data, b->size);
	p->n_record = (p->n_record + 7) & ~(size_t)7;
	record_write(p);
}

static struct blob *feature_begin(struct perfdata *p, enum perfdata_feature feature)
{
	assert(feature < PERFDATA_LAST_FEATURE);
	blob_done(&p->features[feature]);
	return &p->features[feature];
}

static void feature_end(struct perfdata *p, enum perfdata_feature feature, int r)
{
	if (r < 0) {
		perfdata_fail(p, r);
		return;
	}
	p->features[feature].present = true;
	if (p->flags & PERFDATA_PIPE)
		pipe_write_feature(p, feature);
}

void perfdata_set_raw(struct perfdata *p, enum perfdata_feature feature, const void *data,
		      size_t size)
{
	struct blob *b = feature_begin(p, feature);

	feature_end(p, feature, blob_put(b, data, size));
}

void perfdata_set_string(struct perfdata *p, enum perfdata_feature feature, const char *value)
{
	struct blob *b = feature_begin(p, feature);

	feature_end(p, feature, blob_put_string(b, value));
}

void perfdata_set_nrcpus(struct perfdata *p, uint32_t n_available, uint32_t n_online)
{
	uint32_t counts[2] = { n_available, n_online };

	perfdata_set_raw(p, PERFDATA_NRCPUS, counts, sizeof(counts));
}

void perfdata_set_cmdline(struct perfdata *p, int argc, char *const argv[])
{
	struct blob *b = feature_begin(p, PERFDATA_CMDLINE);
	int i, r;

	r = blob_put_u32(b, argc);
	for (i = 0; i < argc && r >= 0; i++)
		r = blob_put_string(b, argv[i]);
	feature_end(p, PERFDATA_CMDLINE, r);
}

void perfdata_set_sample_time(struct perfdata *p, uint64_t first, uint64_t last)
{
	uint64_t times[2] = { first, last };

	perfdata_set_raw(p, PERFDATA_SAMPLE_TIME, times, sizeof(times));
}

static int blob_put_caps(struct blob *b, const char *const caps[][2], size_t n_caps)
{
	size_t i;
	int r;

	r = blob_put_u32(b, n_caps);
	for (i = 0; i < n_caps && r >= 0; i++) {
		r = blob_put_string(b, caps[i][0]);
		if (r >= 0)
			r = blob_put_string(b, caps[i][1]);
	}
	return r;
}

void perfdata_set_cpu_pmu_caps(struct perfdata *p, const char *const caps[][2], size_t n_caps)
{
	struct blob *b = feature_begin(p, PERFDATA_CPU_PMU_CAPS);

	feature_end(p, PERFDATA_CPU_PMU_CAPS, blob_put_caps(b, caps, n_caps));
}

void perfdata_set_pmu_caps(struct perfdata *p, const char *pmu, const char *const caps[][2],
			   size_t n_caps)
{
	struct blob *b = feature_begin(p, PERFDATA_PMU_CAPS);
	int r;

	r = blob_put_u32(b, 1);
	if (r >= 0)
		r = blob_put_caps(b, caps, n_caps);
	if (r >= 0)
		r = blob_put_string(b, pmu);
	feature_end(p, PERFDATA_PMU_CAPS, r);
}

void perfdata_add_build_id(struct perfdata *p, uint16_t misc, int32_t pid, const uint8_t *build_id,
			   size_t size, const char *filename)
{
	uint8_t field[24] = { 0 };
	int r;

	assert(size <= BUILD_ID_BYTES);
	memcpy(field, build_id, size);
	field[BUILD_ID_BYTES] = size;
	record_begin(p, p->flags & PERFDATA_PIPE ? RECORD_HEADER_BUILD_ID : 0,
		     misc | MISC_BUILD_ID_SIZE);
	record_put(p, &pid, sizeof(pid));
	record_put(p, field, sizeof(field));
	record_put_string(p, filename);
	/* header, pid and build-id are 36 bytes: the string's padding leaves the record 4 short of
	 * 8 */
	record_put_u32(p, 0);
	if (p->flags & PERFDATA_PIPE) {
		record_end(p);
		return;
	}
	((struct perf_event_header *)p->record)->size = p->n_record;
	r = blob_put(&p->features[PERFDATA_BUILD_ID], p->record, p->n_record);
	if (r < 0)
		perfdata_fail(p, r);
	p->features[PERFDATA_BUILD_ID].present = true;
}

static int blob_put_event(struct blob *b, const struct perfdata_event *event,
			  const struct perf_event_attr *attr)
{
	int r;

	r = blob_put(b, attr, sizeof(*attr));
	if (r >= 0)
		r = blob_put_u32(b, event->n_ids);
	if (r >= 0)
		r = blob_put_string(b, event->name ? event->name : "event");
	if (r >= 0)
		r = blob_put(b, event->ids, event->n_ids * sizeof(*event->ids));
	return r;
}

static void perfdata_set_event_desc(struct perfdata *p, const struct perfdata_event *events)
{
	struct blob *b = feature_begin(p, PERFDATA_EVENT_DESC);
	size_t i;
	int r;

	r = blob_put_u32(b, p->n_attrs);
	if (r >= 0)
		r = blob_put_u32(b, sizeof(struct perf_event_attr));
	for (i = 0; i < p->n_attrs && r >= 0; i++)
		r = blob_put_event(b, &events[i], &p->attrs[i]);
	feature_end(p, PERFDATA_EVENT_DESC, r);
}

static bool attr_has_branch_history(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

void perfdata_set_own_features(struct perfdata *p, const struct perfdata_event *events)
{
	size_t i;

	perfdata_set_event_desc(p, events);
	for (i = 0; i < p->n_attrs; i++)
		if (attr_has_branch_history(&p->attrs[i]))
			break;
	if (i < p->n_attrs)
		perfdata_set_raw(p, PERFDATA_BRANCH_STACK, NULL, 0);
}

void perfdata_free_features(struct perfdata *p)
{
	int i;

	for (i = 0; i < PERFDATA_LAST_FEATURE; i++)
		blob_done(&p->features[i]);
}
