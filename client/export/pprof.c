/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile.proto of pprof, in gzip. The order of fields is free, so the samples come first and
 * the tables, which grow while samples are written, last. A sample here is a stack with the number
 * of its samples and the sum of their periods.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/gzip.h"
#include "client/export/origin.h"
#include "client/export/place-tables.h"
#include "client/export/pprof-fields.h"
#include "client/export/string-field.h"
#include "common/object/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct writing {
	const struct export_input *input;
	struct string_table *strings;
	struct gzip *gzip;
	struct place_tables places;
	uint32_t *ids; /* of the locations of stacks */
	struct protobuf sample, packed, label, field;
	bool has_weight;
};

static void writing_done(struct writing *w)
{
	place_tables_done(&w->places);
	string_table_free(w->strings);
	gzip_free(w->gzip);
	free(w->ids);
	protobuf_done(&w->sample);
	protobuf_done(&w->packed);
	protobuf_done(&w->label);
	protobuf_done(&w->field);
}

static int put_row(const struct protobuf *field, void *userdata)
{
	struct writing *w = userdata;

	gzip_write(w->gzip, field->bytes, field->n);
	return 0;
}

static int add_to_mapping(struct protobuf *mapping, const struct profile_object *object,
			  bool has_functions, void *userdata)
{
	struct writing *w = userdata;
	char build_id[BUILD_ID_HEX_SIZE];
	bool has_lines = has_functions && w->input->places.lines;

	build_id_format(build_id, object->build_id, object->n_build_id);
	string_field(mapping, PPROF_MAPPING_BUILD_ID, w->strings, build_id);
	protobuf_number(mapping, PPROF_MAPPING_HAS_FUNCTIONS, has_functions);
	protobuf_number(mapping, PPROF_MAPPING_HAS_FILENAMES, has_lines);
	protobuf_number(mapping, PPROF_MAPPING_HAS_LINE_NUMBERS, has_lines);
	protobuf_number(mapping, PPROF_MAPPING_HAS_INLINE_FRAMES, has_lines);
	return mapping->r;
}

static const struct place_tables_format format = {
	.mappings = PPROF_MAPPING,
	.locations = PPROF_LOCATION,
	.functions = PPROF_FUNCTION,
	.has_ids = true,
	.add_to_mapping = add_to_mapping,
	.put = put_row,
};

static int init(struct writing *w, const struct export_input *input, FILE *f)
{
	*w = (struct writing){
		.input = input,
		.has_weight = input->source->shown->counters.weight > 0,
	};
	if (string_table_new(&w->strings) < 0 || gzip_new(&w->gzip, f, GZIP_FAST) < 0 ||
	    ARRAY_ALLOCATE(&w->ids, input->source->shown->n_stacks) < 0)
		return -ENOMEM;
	w->places = (struct place_tables){
		.format = &format, .userdata = w, .input = input, .strings = w->strings
	};
	return place_tables_init(&w->places);
}

/* Writes w->field. */
static int flush(struct writing *w)
{
	if (w->field.r >= 0)
		gzip_write(w->gzip, w->field.bytes, w->field.n);
	protobuf_clear(&w->field);
	return w->field.r;
}

static int write_head(struct writing *w)
{
	const struct profile_source *source = w->input->source;
	const struct profile_counters *counters = &source->shown->counters;

	string_field_value_type(&w->field, PPROF_SAMPLE_TYPE, w->strings, "samples", "count");
	if (w->has_weight) {
		string_field_value_type(&w->field, PPROF_SAMPLE_TYPE, w->strings,
					origin_event(source), origin_unit(source));
		string_field_value_type(&w->field, PPROF_PERIOD_TYPE, w->strings,
					origin_event(source), origin_unit(source));
		protobuf_number(&w->field, PPROF_PERIOD, counters->weight / counters->samples);
	}
	if (!source->is_recording) /* its clock does not count from 1970 on */
		protobuf_number(&w->field, PPROF_TIME_NANOS, origin_start_ns(source));
	protobuf_number(&w->field, PPROF_DURATION_NANOS, origin_length_ns(source));
	string_field(&w->field, PPROF_COMMENT, w->strings, source->name);
	string_field(&w->field, PPROF_DEFAULT_SAMPLE_TYPE, w->strings, "samples");
	return flush(w);
}

static void add_text_label(struct writing *w, const char *key, const char *text)
{
	protobuf_clear(&w->label);
	string_field(&w->label, PPROF_LABEL_KEY, w->strings, key);
	string_field(&w->label, PPROF_LABEL_STR, w->strings, text);
	protobuf_message(&w->sample, PPROF_SAMPLE_LABEL, &w->label);
}

static void add_labels(struct writing *w, const struct profile_process *process)
{
	if (process->pid >= 0) {
		protobuf_clear(&w->label);
		string_field(&w->label, PPROF_LABEL_KEY, w->strings, "pid");
		protobuf_number(&w->label, PPROF_LABEL_NUM, (uint64_t)process->pid);
		protobuf_message(&w->sample, PPROF_SAMPLE_LABEL, &w->label);
	}
	if (*process->comm)
		add_text_label(w, "comm", process->comm);
	if (process->unit)
		add_text_label(w, "unit", process->unit);
}

static int write_sample(struct writing *w, uint32_t node)
{
	const struct profile *shown = w->input->source->shown;
	const struct profile_stack *stack = &shown->stacks[node];

	protobuf_clear(&w->sample);
	protobuf_clear(&w->packed);
	for (uint32_t at = node; at != PROFILE_NONE; at = shown->stacks[at].parent)
		protobuf_varint(&w->packed, w->ids[at]);
	protobuf_message(&w->sample, PPROF_SAMPLE_LOCATION_ID, &w->packed);
	protobuf_clear(&w->packed);
	protobuf_varint(&w->packed, stack->samples);
	if (w->has_weight)
		protobuf_varint(&w->packed, stack->weight);
	protobuf_message(&w->sample, PPROF_SAMPLE_VALUE, &w->packed);
	if (stack->process != PROFILE_NONE)
		add_labels(w, &shown->processes[stack->process]);
	protobuf_message(&w->field, PPROF_SAMPLE, &w->sample);
	return flush(w);
}

static int write_samples(struct writing *w)
{
	const struct profile *shown = w->input->source->shown;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < shown->n_stacks; i++) {
		int64_t id = place_tables_find(&w->places, shown->stacks[i].frame);

		if (id < 0)
			return (int)id;
		w->ids[i] = (uint32_t)id;
		if (shown->stacks[i].samples > 0)
			r = write_sample(w, (uint32_t)i);
	}
	return r;
}

static int write_strings(struct writing *w)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < string_table_size(w->strings); i++) {
		const char *s = string_table_get(w->strings, i);

		protobuf_bytes(&w->field, PPROF_STRING_TABLE, s, strlen(s));
		r = flush(w);
	}
	return r;
}

int pprof_write(const struct export_input *input, FILE *f)
{
	_cleanup_(writing_done) struct writing writing;
	int r = init(&writing, input, f);

	if (r >= 0)
		r = write_head(&writing);
	if (r >= 0)
		r = write_samples(&writing);
	if (r >= 0)
		r = place_tables_write(&writing.places);
	if (r >= 0)
		r = write_strings(&writing);
	if (r >= 0)
		gzip_finish(writing.gzip);
	return r;
}
