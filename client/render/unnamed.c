/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/unnamed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/term/text.h"
#include "client/term/wrap.h"
#include "client/view/object-name.h"
#include "client/view/place.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define MIN_PERCENT 10.0
#define MAX_NAMES   3

#define STATUS_INDENT 10

static const struct profile_object *file_of(const struct top *top, const struct share *row)
{
	const struct profile *profile = top->source->shown;

	if (row->key.symbol || row->key.object == PROFILE_NONE || row->self == 0 ||
	    profile->objects[row->key.object].kind != OBJECT_FILE)
		return NULL;
	return &profile->objects[row->key.object];
}

/* The files that are named: those with most samples, whatever the rows are sorted by. */
struct named {
	const struct share *rows[MAX_NAMES];
	size_t n;
};

static bool is_named(const struct named *named, const struct share *row)
{
	for (size_t i = 0; i < named->n; i++)
		if (named->rows[i] == row)
			return true;
	return false;
}

static struct named find_named(const struct top *top)
{
	struct named named = {};

	for (const struct share *most = NULL; named.n < MAX_NAMES; most = NULL) {
		for (size_t i = 0; i < top->n_rows; i++) {
			const struct share *row = &top->shares->rows[i];

			if (file_of(top, row) && (!most || row->self > most->self) &&
			    !is_named(&named, row))
				most = row;
		}
		if (!most)
			break;
		named.rows[named.n++] = most;
	}
	return named;
}

static void write_names(FILE *f, const struct top *top, const struct named *named)
{
	for (size_t i = 0; i < named->n; i++) {
		const struct share *row = named->rows[i];

		fputs(i > 0 ? ", " : "", f);
		text_write(f, place_object_name(file_of(top, row)));
		fprintf(f, " %.1f %%", percent_of(row->self, top->source->shown->counters.samples));
	}
}

static uint64_t count(const struct top *top)
{
	uint64_t n = 0;

	for (size_t i = 0; i < top->n_rows; i++)
		if (file_of(top, &top->shares->rows[i]))
			n += top->shares->rows[i].self;
	return n;
}

static const char *remedy(const struct top *top, const struct named *named)
{
	bool packaged = false, own = false;

	for (size_t i = 0; i < named->n; i++) {
		bool is_packaged = object_name_is_packaged(file_of(top, named->rows[i])->path);

		packaged |= is_packaged;
		own |= !is_packaged;
	}
	if (packaged && own)
		return "; build your own with symbols, install the debug symbols of packages, and "
		       "restart branchd\n";
	if (own)
		return "; build them with symbols: do not strip the files\n";
	return "; install their debug symbols and restart branchd, to name them from then on\n";
}

int unnamed_write(const struct top *top, struct output *output)
{
	_cleanup_free_ char *text = NULL;
	struct named named;
	double percent;
	size_t n_bytes;
	FILE *f;

	if (top->source->is_recording || top->by != VIEW_FUNCTION || top->owner || !top->shares ||
	    top->mispredicted)
		return 0;
	percent = percent_of(count(top), top->source->shown->counters.samples);
	if (percent < MIN_PERCENT)
		return 0;
	f = open_memstream(&text, &n_bytes);
	if (!f)
		return -ENOMEM;
	fprintf(f, "%.1f %% of the samples are in functions without a name: ", percent);
	named = find_named(top);
	write_names(f, top, &named);
	fputs(remedy(top, &named), f);
	if (fclose(f) != 0)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, 2);
	return 0;
}

/* The file without a function that has most samples below @limit; NULL: none. */
static const struct profile_object *find_next(const struct functions *counted, uint64_t limit,
					      uint64_t *ret)
{
	const struct functions_part *part = &counted->parts[0];
	const struct profile_object *found = NULL;

	*ret = 0;
	for (size_t i = 0; i < part->n_rows; i++) {
		const struct functions_place *place = &counted->places[part->rows[i].place];
		uint64_t self = part->rows[i].self;

		if (place->function != PROFILE_NONE || place->object == PROFILE_NONE ||
		    counted->profile->objects[place->object].kind != OBJECT_FILE || self <= *ret ||
		    self >= limit)
			continue;
		*ret = self;
		found = &counted->profile->objects[place->object];
	}
	return found;
}

int unnamed_write_objects(const struct functions *counted, struct output *output)
{
	_cleanup_free_ char *text = NULL;
	const struct profile_object *object;
	uint64_t samples = UINT64_MAX;
	size_t n_bytes, n = 0;
	FILE *f;

	if (counted->n_parts == 0 || !find_next(counted, samples, &samples))
		return 0;
	f = open_memstream(&text, &n_bytes);
	if (!f)
		return -ENOMEM;
	fputs("unnamed   in the last window ", f);
	for (samples = UINT64_MAX;
	     n < MAX_NAMES && (object = find_next(counted, samples, &samples));) {
		fputs(n++ > 0 ? ", " : "", f);
		text_write(f, place_object_name(object));
		fprintf(f, " %.1f %%", percent_of(samples, counted->parts[0].samples));
	}
	fputs("\n          all are rows [unknown] of branchctl top -n 0\n", f);
	if (fclose(f) != 0)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, STATUS_INDENT);
	return 0;
}
