/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * OpenTelemetry's ExportProfilesServiceRequest (opentelemetry-proto 1.10.0, v1development), which
 * is a ProfilesData, too: one profile of the samples of each stack, and one of the sums of their
 * periods, with a dictionary for both. Row 0 of each table of the dictionary is for none. Messages
 * contain their parts whole, so all is in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/origin.h"
#include "client/export/otlp-attributes.h"
#include "client/export/otlp-fields.h"
#include "client/export/place-tables.h"
#include "client/export/string-field.h"
#include "common/object/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/fnv.h"

#define SOURCE_NAME "branchd"
#define ID_BYTES    16

enum value {
	VALUE_SAMPLES,
	VALUE_PERIODS,
};

struct writing {
	const struct export_input *input;
	struct string_table *strings;
	struct otlp_attributes *attributes;
	struct place_tables places;
	struct tree_merge paths;
	uint32_t *locations; /* of the frames of stacks */
	uint32_t *path;      /* of stacks: those of several processes may have one path */
	uint32_t *rows;      /* of paths in the table of stacks; 0: none yet */
	uint32_t n_rows;
	struct protobuf dictionary, profile, field, packed;
};

static void writing_done(struct writing *w)
{
	place_tables_done(&w->places);
	tree_merge_done(&w->paths);
	string_table_free(w->strings);
	otlp_attributes_free(w->attributes);
	free(w->locations);
	free(w->path);
	free(w->rows);
	protobuf_done(&w->dictionary);
	protobuf_done(&w->profile);
	protobuf_done(&w->field);
	protobuf_done(&w->packed);
}

static int put_row(const struct protobuf *field, void *userdata)
{
	struct writing *w = userdata;

	protobuf_append(&w->dictionary, field);
	return w->dictionary.r;
}

/* A field with the number of one attribute. */
static int put_attribute(struct writing *w, struct protobuf *message, unsigned int field,
			 enum otlp_attribute key, const char *value)
{
	int64_t number = otlp_attributes_find(w->attributes, key, value);

	if (number < 0)
		return (int)number;
	protobuf_clear(&w->packed);
	protobuf_varint(&w->packed, (uint64_t)number);
	protobuf_message(message, field, &w->packed);
	return message->r;
}

static int add_to_mapping(struct protobuf *mapping, const struct profile_object *object,
			  bool has_functions, void *userdata)
{
	char build_id[BUILD_ID_HEX_SIZE];

	if (object->n_build_id == 0)
		return 0;
	return put_attribute(userdata, mapping, OTLP_MAPPING_ATTRIBUTES, OTLP_BUILD_ID,
			     build_id_format(build_id, object->build_id, object->n_build_id));
}

/* Which language code in memory is of is not known. */
static int add_to_location(struct protobuf *location, const struct profile_object *object,
			   void *userdata)
{
	bool is_kernel = object && (object->kind == OBJECT_KERNEL || object->kind == OBJECT_MODULE);

	if (!object || object->kind == OBJECT_MEMORY)
		return 0;
	return put_attribute(userdata, location, OTLP_LOCATION_ATTRIBUTES, OTLP_FRAME_TYPE,
			     is_kernel ? "kernel" : "native");
}

static const struct place_tables_format format = {
	.mappings = OTLP_MAPPING_TABLE,
	.locations = OTLP_LOCATION_TABLE,
	.functions = OTLP_FUNCTION_TABLE,
	.add_to_mapping = add_to_mapping,
	.add_to_location = add_to_location,
	.put = put_row,
};

static int init(struct writing *w, const struct export_input *input)
{
	size_t n = input->source->shown->n_stacks;

	*w = (struct writing){ .input = input };
	if (string_table_new(&w->strings) < 0 || otlp_attributes_new(&w->attributes) < 0 ||
	    ARRAY_ALLOCATE(&w->locations, n) < 0 || ARRAY_ALLOCATE(&w->path, n) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&w->rows, n) < 0)
		return -ENOMEM;
	w->places = (struct place_tables){
		.format = &format, .userdata = w, .input = input, .strings = w->strings
	};
	for (unsigned int table = OTLP_MAPPING_TABLE; table <= OTLP_STACK_TABLE; table++)
		if (table != OTLP_STRING_TABLE) /* which has it already */
			protobuf_bytes(&w->dictionary, table, NULL, 0);
	return place_tables_init(&w->places);
}

/* A row of the stack of that node, the innermost frame first. */
static void put_stack(struct writing *w, uint32_t node)
{
	const struct profile *shown = w->input->source->shown;

	protobuf_clear(&w->packed);
	protobuf_clear(&w->field);
	for (uint32_t at = node; at != PROFILE_NONE; at = shown->stacks[at].parent)
		protobuf_varint(&w->packed, w->locations[at]);
	protobuf_message(&w->field, OTLP_STACK_LOCATIONS, &w->packed);
	protobuf_message(&w->dictionary, OTLP_STACK_TABLE, &w->field);
}

static int write_stacks(struct writing *w)
{
	const struct profile *shown = w->input->source->shown;

	for (uint32_t i = 0; i < shown->n_stacks; i++) {
		const struct profile_stack *stack = &shown->stacks[i];
		uint32_t parent =
			stack->parent == PROFILE_NONE ? PROFILE_NONE : w->path[stack->parent];
		int64_t number = place_tables_find(&w->places, stack->frame), path;
		struct location at = { 0, (uint64_t)number };

		path = number < 0 ? number : tree_merge_find(&w->paths, parent, at, at);
		if (path < 0)
			return (int)path;
		w->locations[i] = (uint32_t)number;
		w->path[i] = (uint32_t)path;
		if (stack->samples == 0 || w->rows[path] > 0)
			continue;
		w->rows[path] = ++w->n_rows;
		put_stack(w, i);
	}
	return w->dictionary.r;
}

/* The same for the same windows of a host, so that a copy can be told. */
static void add_id(struct writing *w, enum value value)
{
	const struct profile_source *source = w->input->source;
	const uint64_t numbers[] = { origin_start_ns(source), origin_length_ns(source),
				     source->shown->counters.samples, value };
	uint64_t hashes[ID_BYTES / sizeof(uint64_t)];

	hashes[0] = fnv_add_text(FNV_BASIS, source->shown->info.hostname ?: "");
	hashes[0] = fnv_add_text(hashes[0], source->name);
	hashes[1] = fnv_add(hashes[0], numbers, sizeof(numbers));
	protobuf_bytes(&w->profile, OTLP_PROFILE_ID, hashes, sizeof(hashes));
}

static void write_head(struct writing *w, enum value value)
{
	const struct profile_source *source = w->input->source;
	const struct profile_counters *counters = &source->shown->counters;

	if (value == VALUE_SAMPLES)
		string_field_value_type(&w->profile, OTLP_PROFILE_SAMPLE_TYPE, w->strings,
					"samples", "count");
	else
		string_field_value_type(&w->profile, OTLP_PROFILE_SAMPLE_TYPE, w->strings,
					origin_event(source), origin_unit(source));
	if (counters->weight > 0) {
		string_field_value_type(&w->profile, OTLP_PROFILE_PERIOD_TYPE, w->strings,
					origin_event(source), origin_unit(source));
		protobuf_number(&w->profile, OTLP_PROFILE_PERIOD,
				counters->weight / counters->samples);
	}
	if (!source->is_recording) /* its clock does not count from 1970 on */
		protobuf_fixed64(&w->profile, OTLP_PROFILE_TIME, origin_start_ns(source));
	protobuf_number(&w->profile, OTLP_PROFILE_DURATION, origin_length_ns(source));
	add_id(w, value);
}

static void add_attribute(struct writing *w, enum otlp_attribute key, const char *value)
{
	int64_t number = value && *value ? otlp_attributes_find(w->attributes, key, value) : 0;

	if (number < 0)
		w->profile.r = -ENOMEM;
	else if (number > 0)
		protobuf_varint(&w->packed, (uint64_t)number);
}

static void add_attributes(struct writing *w, const struct profile_process *process)
{
	char pid[16] = "";

	if (process->pid >= 0)
		snprintf(pid, sizeof(pid), "%" PRId64, (int64_t)process->pid);
	protobuf_clear(&w->packed);
	add_attribute(w, OTLP_PID, pid);
	add_attribute(w, OTLP_COMM, process->comm);
	add_attribute(w, OTLP_UNIT, process->unit);
	protobuf_message(&w->field, OTLP_SAMPLE_ATTRIBUTES, &w->packed);
}

static void write_sample(struct writing *w, uint32_t node, enum value value)
{
	const struct profile *shown = w->input->source->shown;
	const struct profile_stack *stack = &shown->stacks[node];

	protobuf_clear(&w->field);
	protobuf_number(&w->field, OTLP_SAMPLE_STACK, w->rows[w->path[node]]);
	if (stack->process != PROFILE_NONE)
		add_attributes(w, &shown->processes[stack->process]);
	protobuf_clear(&w->packed);
	protobuf_varint(&w->packed, value == VALUE_SAMPLES ? stack->samples : stack->weight);
	protobuf_message(&w->field, OTLP_SAMPLE_VALUES, &w->packed);
	protobuf_message(&w->profile, OTLP_PROFILE_SAMPLES, &w->field);
}

/* One profile, as a field of those of the scope. */
static int write_profile(struct writing *w, enum value value, struct protobuf *scope)
{
	const struct profile *shown = w->input->source->shown;

	protobuf_clear(&w->profile);
	write_head(w, value);
	for (uint32_t i = 0; w->profile.r >= 0 && i < shown->n_stacks; i++)
		if (shown->stacks[i].samples > 0)
			write_sample(w, i, value);
	protobuf_message(scope, OTLP_SCOPE_PROFILES_PROFILES, &w->profile);
	return scope->r;
}

static int write_scope(struct writing *w, struct protobuf *scope)
{
	int r;

	protobuf_clear(&w->field);
	protobuf_bytes(&w->field, OTLP_SCOPE_NAME, SOURCE_NAME, strlen(SOURCE_NAME));
	protobuf_message(scope, OTLP_SCOPE_PROFILES_SCOPE, &w->field);
	r = write_profile(w, VALUE_SAMPLES, scope);
	if (r >= 0 && w->input->source->shown->counters.weight > 0)
		r = write_profile(w, VALUE_PERIODS, scope);
	return r;
}

static int write_resource(struct writing *w, struct protobuf *resource_profiles)
{
	const char *host = w->input->source->shown->info.hostname;
	struct protobuf resource = {}, scope = {};
	int r = otlp_attributes_put_text(&resource, OTLP_RESOURCE_ATTRIBUTES, "service.name",
					 SOURCE_NAME);

	if (r >= 0 && host)
		r = otlp_attributes_put_text(&resource, OTLP_RESOURCE_ATTRIBUTES, "host.name",
					     host);
	if (r >= 0)
		r = write_scope(w, &scope);
	protobuf_message(resource_profiles, OTLP_RESOURCE_PROFILES_RESOURCE, &resource);
	protobuf_message(resource_profiles, OTLP_RESOURCE_PROFILES_SCOPES, &scope);
	protobuf_done(&resource);
	protobuf_done(&scope);
	return r < 0 ? r : resource_profiles->r;
}

static int write_strings(struct writing *w)
{
	for (size_t i = 0; i < string_table_size(w->strings); i++) {
		const char *s = string_table_get(w->strings, i);

		protobuf_bytes(&w->dictionary, OTLP_STRING_TABLE, s, strlen(s));
	}
	return w->dictionary.r;
}

static int write_field(unsigned int field, const struct protobuf *message, FILE *f)
{
	struct protobuf whole = {};
	int r;

	protobuf_message(&whole, field, message);
	r = whole.r;
	if (r >= 0)
		fwrite(whole.bytes, 1, whole.n, f);
	protobuf_done(&whole);
	return r;
}

static int write_request(struct writing *w, FILE *f)
{
	struct protobuf resource_profiles = {};
	int r = write_resource(w, &resource_profiles);

	if (r >= 0)
		r = write_field(OTLP_RESOURCE_PROFILES, &resource_profiles, f);
	protobuf_done(&resource_profiles);
	if (r >= 0)
		r = place_tables_write(&w->places);
	if (r >= 0)
		r = otlp_attributes_write(w->attributes, w->strings, &w->dictionary);
	if (r >= 0)
		r = write_strings(w);
	return r < 0 ? r : write_field(OTLP_DICTIONARY, &w->dictionary, f);
}

int otlp_write(const struct export_input *input, FILE *f)
{
	_cleanup_(writing_done) struct writing writing;
	int r = init(&writing, input);

	if (r >= 0)
		r = write_stacks(&writing);
	return r < 0 ? r : write_request(&writing, f);
}
