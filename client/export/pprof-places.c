/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/pprof-places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/export/pprof-fields.h"
#include "common/util/array.h"

#define PAGE          4096ull
#define FIRST_ADDRESS (1ull << 32)
#define MAX_INLINED   64

struct pprof_mapping {
	uint64_t low, high; /* the lowest and the highest offset used */
	uint64_t base;      /* the address of offset 0 */
	bool is_used, has_functions;
};

int pprof_places_init(struct pprof_places *places, const struct export_input *input,
		      struct string_table *strings, struct gzip *gzip)
{
	*places = (struct pprof_places){ .input = input, .strings = strings, .gzip = gzip };
	return ARRAY_ALLOCATE_ZEROED(&places->mappings, input->source->shown->n_objects);
}

void pprof_places_done(struct pprof_places *places)
{
	tree_merge_done(&places->merge);
	tree_merge_done(&places->functions);
	protobuf_done(&places->message);
	protobuf_done(&places->line);
	free(places->rows);
	free(places->mappings);
}

static void use_mapping(struct pprof_places *places, struct location at)
{
	struct pprof_mapping *mapping = &places->mappings[at.object];

	mapping->low = mapping->is_used ? MIN(mapping->low, at.offset) : at.offset;
	mapping->high = MAX(mapping->high, at.offset);
	mapping->has_functions |= profile_find_function(places->input->source->shown, at) != NULL;
	mapping->is_used = true;
}

int64_t pprof_places_find(struct pprof_places *places, struct location frame)
{
	struct location at = profile_place_frame(places->input->source->shown, frame);
	int64_t number = tree_merge_find(&places->merge, PROFILE_NONE, at, at);

	if (number < 0 || (size_t)number < places->n)
		return number < 0 ? number : number + 1;
	if (ARRAY_RESERVE(&places->rows, &places->cap, places->n + 1) < 0)
		return -ENOMEM;
	places->rows[places->n++] = at;
	if (at.object != PROFILE_NONE)
		use_mapping(places, at);
	return number + 1;
}

/* The message as a field of the profile. */
static int put(struct pprof_places *places, enum pprof_profile_field field)
{
	struct protobuf *outer = &places->line;

	protobuf_clear(outer);
	protobuf_message(outer, field, &places->message);
	if (outer->r >= 0)
		gzip_write(places->gzip, outer->bytes, outer->n);
	protobuf_clear(&places->message);
	return outer->r;
}

static int put_string(struct pprof_places *places, unsigned int field, const char *s)
{
	int64_t number = string_table_find(places->strings, s);

	protobuf_number(&places->message, field, (uint64_t)MAX(number, (int64_t)0));
	return number < 0 ? (int)number : 0;
}

static void choose_addresses(struct pprof_places *places)
{
	const struct profile *shown = places->input->source->shown;
	uint64_t next = FIRST_ADDRESS;

	for (size_t i = 0; i < shown->n_objects; i++) {
		struct pprof_mapping *mapping = &places->mappings[i];
		const struct profile_object *object = &shown->objects[i];

		if (!mapping->is_used)
			continue;
		mapping->base = object->base;
		if (object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO) {
			mapping->base = next;
			next += (mapping->high / PAGE + 2) * PAGE;
		}
	}
}

static int write_mapping(struct pprof_places *places, size_t i)
{
	const struct profile_object *object = &places->input->source->shown->objects[i];
	const struct pprof_mapping *mapping = &places->mappings[i];
	uint64_t start = (mapping->base + mapping->low) / PAGE * PAGE;
	uint64_t limit = (mapping->base + mapping->high) / PAGE * PAGE + PAGE;
	char build_id[2 * PROFILE_BUILD_ID_MAX + 1] = "";
	int r;

	for (size_t k = 0; k < object->n_build_id; k++)
		snprintf(build_id + 2 * k, 3, "%02x", object->build_id[k]);
	protobuf_number(&places->message, PPROF_MAPPING_ID, i + 1);
	protobuf_number(&places->message, PPROF_MAPPING_MEMORY_START, start);
	protobuf_number(&places->message, PPROF_MAPPING_MEMORY_LIMIT, limit);
	if (object->kind == OBJECT_FILE)
		protobuf_number(&places->message, PPROF_MAPPING_FILE_OFFSET, start - mapping->base);
	protobuf_number(&places->message, PPROF_MAPPING_HAS_FUNCTIONS, mapping->has_functions);
	protobuf_number(&places->message, PPROF_MAPPING_HAS_FILENAMES,
			mapping->has_functions && places->input->places.lines);
	protobuf_number(&places->message, PPROF_MAPPING_HAS_LINE_NUMBERS,
			mapping->has_functions && places->input->places.lines);
	protobuf_number(&places->message, PPROF_MAPPING_HAS_INLINE_FRAMES,
			mapping->has_functions && places->input->places.lines);
	r = put_string(places, PPROF_MAPPING_FILENAME, object->path);
	if (r >= 0)
		r = put_string(places, PPROF_MAPPING_BUILD_ID, build_id);
	return r < 0 ? r : put(places, PPROF_MAPPING);
}

/* The id of a function, which is written when it is new. */
static int64_t find_function(struct pprof_places *places, const struct source_frame *frame,
			     uint32_t object)
{
	int64_t name = string_table_find(places->strings, frame->function ?: "[unknown]");
	int64_t file = string_table_find(places->strings, frame->file ?: "");
	uint32_t n = places->functions.n;
	struct protobuf function = {};
	int64_t number;
	int r;

	if (name < 0 || file < 0)
		return -ENOMEM;
	number = tree_merge_find(&places->functions, PROFILE_NONE,
				 (struct location){ object, (uint64_t)name },
				 (struct location){ object, (uint64_t)file });
	if (number < 0 || (uint32_t)number < n)
		return number < 0 ? number : number + 1;
	protobuf_number(&function, PPROF_FUNCTION_ID, (uint64_t)number + 1);
	protobuf_number(&function, PPROF_FUNCTION_NAME, (uint64_t)name);
	protobuf_number(&function, PPROF_FUNCTION_SYSTEM_NAME, (uint64_t)name);
	protobuf_number(&function, PPROF_FUNCTION_FILENAME, (uint64_t)file);
	protobuf_clear(&places->line);
	protobuf_message(&places->line, PPROF_FUNCTION, &function);
	r = places->line.r;
	if (r >= 0)
		gzip_write(places->gzip, places->line.bytes, places->line.n);
	protobuf_done(&function);
	return r < 0 ? r : number + 1;
}

static int add_line(struct pprof_places *places, const struct source_frame *frame, uint32_t object)
{
	int64_t function = find_function(places, frame, object);

	if (function < 0)
		return (int)function;
	protobuf_clear(&places->line);
	protobuf_number(&places->line, PPROF_LINE_FUNCTION_ID, (uint64_t)function);
	protobuf_number(&places->line, PPROF_LINE_LINE, frame->line);
	protobuf_message(&places->message, PPROF_LOCATION_LINE, &places->line);
	return 0;
}

/* The inlined calls, innermost first; the last is the function itself, by its symbol's name. */
static int add_lines(struct pprof_places *places, struct location at)
{
	const struct profile *shown = places->input->source->shown;
	const struct profile_function *function = profile_find_function(shown, at);
	struct source_frame frames[MAX_INLINED] = {};
	int n = 0, r = 0;

	if (!function)
		return 0;
	if (places->input->places.lines)
		n = symbolizer_lines(places->input->source->symbolizer, &shown->objects[at.object],
				     at.offset, frames, MAX_INLINED);
	n = MAX(n, 1);
	frames[n - 1].function = function->name;
	for (int i = 0; r >= 0 && i < n; i++)
		r = add_line(places, &frames[i], at.object);
	return r;
}

static int write_location(struct pprof_places *places, size_t i)
{
	struct location at = places->rows[i];
	bool is_mapped = at.object != PROFILE_NONE;
	uint64_t base = is_mapped ? places->mappings[at.object].base : 0;
	int r;

	protobuf_number(&places->message, PPROF_LOCATION_ID, i + 1);
	protobuf_number(&places->message, PPROF_LOCATION_MAPPING_ID,
			is_mapped ? at.object + 1ull : 0);
	protobuf_number(&places->message, PPROF_LOCATION_ADDRESS, base + at.offset);
	r = add_lines(places, at);
	return r < 0 ? r : put(places, PPROF_LOCATION);
}

int pprof_places_write(struct pprof_places *places)
{
	int r = 0;

	choose_addresses(places);
	for (size_t i = 0; r >= 0 && i < places->input->source->shown->n_objects; i++)
		if (places->mappings[i].is_used)
			r = write_mapping(places, i);
	for (size_t i = 0; r >= 0 && i < places->n; i++)
		r = write_location(places, i);
	return r;
}
