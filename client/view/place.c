/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/util/cleanup.h"

static void find_line(struct place *place, const struct places *places)
{
	struct source_frame frame;

	if (!places->lines || !places->symbolizer || !place->object)
		return;
	if (symbolizer_lines(places->symbolizer, place->object, place->offset, &frame, 1) < 1)
		return;
	place->file = frame.file;
	place->line = frame.line;
}

struct place place_find(const struct places *places, struct location at)
{
	const struct profile *profile = places->profile;
	struct place place = {
		.address = profile_raw_address(profile, at),
		.has_address = true,
		.offset = at.offset,
	};
	uint64_t address;

	if (at.object == PROFILE_NONE)
		return place;
	place.object = &profile->objects[at.object];
	place.function = profile_find_function(profile, at);
	if (place.object->kind == OBJECT_FILE) {
		place.has_address =
			places->symbolizer && symbolizer_address(places->symbolizer, place.object,
								 at.offset, &address) > 0;
		place.address = place.has_address ? address : place.address;
	}
	find_line(&place, places);
	return place;
}

bool place_has_file_offset(const struct place *place)
{
	return place->object && place->object->kind == OBJECT_FILE;
}

static char *format_offset(const char *name, uint64_t offset)
{
	char *text;

	return asprintf(&text, "%s+0x%" PRIx64, name, offset) < 0 ? NULL : text;
}

char *place_format(const struct place *place)
{
	char *text;

	if (place->function)
		return format_offset(place->function->name, place->offset - place->function->start);
	if (place->object && place->object->kind != OBJECT_KERNEL &&
	    place->object->kind != OBJECT_MEMORY)
		return format_offset(place_object_name(place->object),
				     place->object->kind == OBJECT_MODULE ? place->offset :
									    place->address);
	if (!place->object && place->address == 0)
		return strdup(place_object_name(NULL));
	return asprintf(&text, "0x%" PRIx64, place->address) < 0 ? NULL : text;
}

/* "@from..@to". @to is shortened if both have the same text up to the last '+'. */
static char *join(const char *from, const char *to)
{
	const char *from_plus = strrchr(from, '+') ?: from, *to_plus = strrchr(to, '+') ?: to;
	char *text;

	if (from_plus - from != to_plus - to || strncmp(from, to, (size_t)(to_plus - to)) != 0)
		to_plus = to;
	return asprintf(&text, "%s..%s", from, to_plus) < 0 ? NULL : text;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "main div.c:10". Leaves out what it shares with @before, unless that is NULL. */
static char *format_line(const struct place *place, const struct place *before)
{
	bool same = before && before->function == place->function;
	const char *function = place->function && !same ? place->function->name : "";
	char *text;
	int r;

	if (same && strcmp(before->file, place->file) == 0)
		r = asprintf(&text, "%" PRIu32, place->line);
	else
		r = asprintf(&text, "%s%s%s:%" PRIu32, function, *function ? " " : "",
			     last_component(place->file), place->line);
	return r < 0 ? NULL : text;
}

static bool is_same_line(const struct place *a, const struct place *b)
{
	return a->function == b->function && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static char *format_lines(const struct place *start, const struct place *end)
{
	_cleanup_free_ char *from = format_line(start, NULL);
	_cleanup_free_ char *to = format_line(end, start);
	char *text;

	if (!from || !to)
		return NULL;
	if (is_same_line(start, end))
		return TAKE_PTR(from);
	return asprintf(&text, "%s..%s", from, to) < 0 ? NULL : text;
}

char *place_format_block(const struct places *places, const struct profile_block *block)
{
	struct location start_at = { block->object, block->start };
	struct location end_at = { block->object, block->end };
	struct place start = place_find(places, start_at), end = place_find(places, end_at);
	_cleanup_free_ char *from = NULL;
	_cleanup_free_ char *to = NULL;

	if (start.file && end.file)
		return format_lines(&start, &end);
	from = place_format(&start);
	to = place_format(&end);
	return from && to ? join(from, to) : NULL;
}

const char *place_object_name(const struct profile_object *object)
{
	const char *name;

	if (!object || object->path[0] == '\0')
		return "[unknown]";
	name = last_component(object->path);
	return *name ? name : object->path;
}
