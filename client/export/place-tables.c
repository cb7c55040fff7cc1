/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/place-tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/export/string-field.h"
#include "common/util/array.h"

#define PAGE          4096ull
#define FIRST_ADDRESS (1ull << 32)
#define MAX_INLINED   64

/* The fields of rows, by the numbers that they have in pprof. */
enum place_field {
	PLACE_ID = 1,

	PLACE_MAPPING_MEMORY_START = 2,
	PLACE_MAPPING_MEMORY_LIMIT,
	PLACE_MAPPING_FILE_OFFSET,
	PLACE_MAPPING_FILENAME,

	PLACE_LOCATION_MAPPING = 2,
	PLACE_LOCATION_ADDRESS,
	PLACE_LOCATION_LINE,

	PLACE_FUNCTION_NAME = 2,
	PLACE_FUNCTION_SYSTEM_NAME,
	PLACE_FUNCTION_FILENAME,

	/* a line has no id: the same in both */
	PLACE_LINE_FUNCTION = 1,
	PLACE_LINE_LINE,
};

struct place_mapping {
	uint64_t low, high; /* the lowest and the highest address used, by its own base */
	uint64_t shift;     /* from there to the addresses that are written */
	uint64_t number;    /* from 1 on */
	bool is_used, has_functions;
};

int place_tables_init(struct place_tables *tables)
{
	return ARRAY_ALLOCATE_ZEROED(&tables->mappings, tables->input->source->shown->n_objects);
}

void place_tables_done(struct place_tables *tables)
{
	tree_merge_done(&tables->merge);
	tree_merge_done(&tables->functions);
	protobuf_done(&tables->message);
	protobuf_done(&tables->line);
	free(tables->rows);
	free(tables->mappings);
}

static bool is_of_file(const struct profile_object *object)
{
	return object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO;
}

/* Offsets of the kernel count modulo 2^64 from a symbol that need not be the first. */
static uint64_t own_address(const struct profile_object *object, uint64_t offset)
{
	return is_of_file(object) ? offset : object->base + offset;
}

static void use_mapping(struct place_tables *tables, struct location at)
{
	struct place_mapping *mapping = &tables->mappings[at.object];
	uint64_t address =
		own_address(&tables->input->source->shown->objects[at.object], at.offset);

	mapping->low = mapping->is_used ? MIN(mapping->low, address) : address;
	mapping->high = MAX(mapping->high, address);
	mapping->has_functions |= profile_find_function(tables->input->source->shown, at) != NULL;
	mapping->is_used = true;
}

int64_t place_tables_find(struct place_tables *tables, struct location frame)
{
	struct location at = profile_place_frame(tables->input->source->shown, frame);
	int64_t number;

	if (!tables->format->has_ids && at.object == PROFILE_NONE && at.offset == 0)
		return 0;
	number = tree_merge_find(&tables->merge, PROFILE_NONE, at, at);
	if (number < 0 || (size_t)number < tables->n)
		return number < 0 ? number : number + 1;
	if (ARRAY_RESERVE(&tables->rows, &tables->cap, tables->n + 1) < 0)
		return -ENOMEM;
	tables->rows[tables->n++] = at;
	if (at.object != PROFILE_NONE)
		use_mapping(tables, at);
	return number + 1;
}

/* The number of a field of pprof's rows with ids in this format. */
static unsigned int field_of(const struct place_tables *tables, unsigned int number)
{
	return tables->format->has_ids ? number : number - 1;
}

/* The message as a row of a table. */
static int put(struct place_tables *tables, unsigned int table, const struct protobuf *message)
{
	struct protobuf *outer = &tables->line;

	protobuf_clear(outer);
	protobuf_message(outer, table, message);
	return outer->r < 0 ? outer->r : tables->format->put(outer, tables->userdata);
}

static void put_id(const struct place_tables *tables, struct protobuf *message, uint64_t id)
{
	if (tables->format->has_ids)
		protobuf_number(message, PLACE_ID, id);
}

static void choose_addresses(struct place_tables *tables)
{
	const struct profile *shown = tables->input->source->shown;
	uint64_t next = FIRST_ADDRESS, n = 0;

	for (size_t i = 0; i < shown->n_objects; i++) {
		struct place_mapping *mapping = &tables->mappings[i];

		if (!mapping->is_used)
			continue;
		mapping->number = ++n;
		if (is_of_file(&shown->objects[i])) {
			mapping->shift = next;
			next += (mapping->high / PAGE + 2) * PAGE;
		}
	}
}

static int write_mapping(struct place_tables *tables, size_t i)
{
	const struct profile_object *object = &tables->input->source->shown->objects[i];
	const struct place_mapping *mapping = &tables->mappings[i];
	uint64_t start = (mapping->shift + mapping->low) / PAGE * PAGE;
	uint64_t limit = (mapping->shift + mapping->high) / PAGE * PAGE + PAGE;
	struct protobuf *message = &tables->message;
	int r;

	protobuf_clear(message);
	put_id(tables, message, mapping->number);
	protobuf_number(message, field_of(tables, PLACE_MAPPING_MEMORY_START), start);
	protobuf_number(message, field_of(tables, PLACE_MAPPING_MEMORY_LIMIT), limit);
	if (object->kind == OBJECT_FILE)
		protobuf_number(message, field_of(tables, PLACE_MAPPING_FILE_OFFSET),
				start - mapping->shift);
	string_field(message, field_of(tables, PLACE_MAPPING_FILENAME), tables->strings,
		     object->path);
	r = tables->format->add_to_mapping(message, object, mapping->has_functions,
					   tables->userdata);
	return r < 0 ? r : put(tables, tables->format->mappings, message);
}

/* The id of a function, which is written when it is new. Without ids, those of two objects that
 * have one name are one row. */
static int64_t find_function(struct place_tables *tables, const struct source_frame *frame,
			     uint32_t object)
{
	uint32_t owner = tables->format->has_ids ? object : 0;
	int64_t name = string_table_find(tables->strings, frame->function ?: "[unknown]");
	int64_t file = string_table_find(tables->strings, frame->file ?: "");
	uint32_t n = tables->functions.n;
	struct protobuf function = {};
	int64_t number;
	int r;

	if (name < 0 || file < 0)
		return -ENOMEM;
	number = tree_merge_find(&tables->functions, PROFILE_NONE,
				 (struct location){ owner, (uint64_t)name },
				 (struct location){ owner, (uint64_t)file });
	if (number < 0 || (uint32_t)number < n)
		return number < 0 ? number : number + 1;
	put_id(tables, &function, (uint64_t)number + 1);
	protobuf_number(&function, field_of(tables, PLACE_FUNCTION_NAME), (uint64_t)name);
	protobuf_number(&function, field_of(tables, PLACE_FUNCTION_SYSTEM_NAME), (uint64_t)name);
	protobuf_number(&function, field_of(tables, PLACE_FUNCTION_FILENAME), (uint64_t)file);
	r = put(tables, tables->format->functions, &function);
	protobuf_done(&function);
	return r < 0 ? r : number + 1;
}

static int add_line(struct place_tables *tables, const struct source_frame *frame, uint32_t object)
{
	int64_t function = find_function(tables, frame, object);

	if (function < 0)
		return (int)function;
	protobuf_clear(&tables->line);
	protobuf_number(&tables->line, PLACE_LINE_FUNCTION, (uint64_t)function);
	protobuf_number(&tables->line, PLACE_LINE_LINE, frame->line);
	protobuf_message(&tables->message, field_of(tables, PLACE_LOCATION_LINE), &tables->line);
	return 0;
}

/* The inlined calls, innermost first; the last is the function itself, by its symbol's name. */
static int add_lines(struct place_tables *tables, struct location at)
{
	const struct profile *shown = tables->input->source->shown;
	const struct profile_function *function = profile_find_function(shown, at);
	struct source_frame frames[MAX_INLINED] = {};
	int n = 0, r = 0;

	if (!function)
		return 0;
	if (tables->input->places.lines)
		n = symbolizer_lines(tables->input->source->symbolizer, &shown->objects[at.object],
				     at.offset, frames, MAX_INLINED);
	n = MAX(n, 1);
	frames[n - 1].function = function->name;
	for (int i = 0; r >= 0 && i < n; i++)
		r = add_line(tables, &frames[i], at.object);
	return r;
}

static int write_location(struct place_tables *tables, size_t i)
{
	struct location at = tables->rows[i];
	bool is_mapped = at.object != PROFILE_NONE;
	const struct profile_object *object =
		is_mapped ? &tables->input->source->shown->objects[at.object] : NULL;
	const struct place_mapping none = {},
				   *mapping = is_mapped ? &tables->mappings[at.object] : &none;
	struct protobuf *message = &tables->message;
	uint64_t address = object ? mapping->shift + own_address(object, at.offset) : at.offset;
	int r;

	protobuf_clear(message);
	put_id(tables, message, i + 1);
	protobuf_number(message, field_of(tables, PLACE_LOCATION_MAPPING), mapping->number);
	protobuf_number(message, field_of(tables, PLACE_LOCATION_ADDRESS), address);
	r = add_lines(tables, at);
	if (r >= 0 && tables->format->add_to_location)
		r = tables->format->add_to_location(message, object, tables->userdata);
	return r < 0 ? r : put(tables, tables->format->locations, message);
}

int place_tables_write(struct place_tables *tables)
{
	int r = 0;

	choose_addresses(tables);
	for (size_t i = 0; r >= 0 && i < tables->input->source->shown->n_objects; i++)
		if (tables->mappings[i].is_used)
			r = write_mapping(tables, i);
	for (size_t i = 0; r >= 0 && i < tables->n; i++)
		r = write_location(tables, i);
	return r;
}
