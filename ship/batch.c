/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/export/gzip.h"
#include "client/top/share.h"
#include "common/profile/other.h"
#include "common/util/cleanup.h"
#include "ship/as-profile.h"
#include "ship/fold.h"
#include "ship/names.h"
#include "ship/text.h"

#define DAY_US 86400000000

/* One window and its rows so far. */
struct writing {
	struct batch *batch;
	const struct batch_sender *sender;
	const struct window_info *window;
	int64_t last_id;
	const struct profile *profile;
	struct names *names;
	uint32_t n; /* of the next row */
};

const char *batch_table_name(enum batch_table table)
{
	static const char *const names[N_BATCH_TABLES] = {
		[BATCH_NAMES] = "names",     [BATCH_FUNCTIONS] = "functions",
		[BATCH_STACKS] = "stacks",   [BATCH_BRANCHES] = "branches",
		[BATCH_BLOCKS] = "blocks",   [BATCH_STREAMS] = "streams",
		[BATCH_WINDOWS] = "windows", [BATCH_PPROF] = "pprof",
		[BATCH_OTLP] = "otlp",
	};

	return names[table];
}

int batch_new(struct batch **ret)
{
	_cleanup_(batch_freep) struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return -ENOMEM;
	for (int i = 0; i < N_BATCH_TABLES; i++) {
		batch->files[i] = open_memstream(&batch->texts[i], &batch->sizes[i]);
		if (!batch->files[i])
			return -ENOMEM;
	}
	*ret = TAKE_PTR(batch);
	return 0;
}

struct batch *batch_free(struct batch *batch)
{
	if (!batch)
		return NULL;
	for (int i = 0; i < N_BATCH_TABLES; i++) {
		if (batch->files[i])
			fclose(batch->files[i]);
		free(batch->texts[i]);
	}
	free(batch);
	return NULL;
}

uint64_t batch_day(uint64_t us)
{
	return us / DAY_US;
}

/* The columns that all tables but "names" begin with. */
static void begin_row(struct writing *w, FILE *f)
{
	text_put(f, w->sender->host);
	fputc('\t', f);
	text_put_day(f, batch_day(w->window->start_us));
	fprintf(f, "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu32 "\t%" PRIu64, w->window->start_us,
		w->window->id, w->n++, w->window->start_us / 1000000);
}

static void put_unit(const struct writing *w, uint32_t process, FILE *f)
{
	fputc('\t', f);
	if (process != PROFILE_NONE)
		text_put(f, w->profile->processes[process].unit);
}

static void put_place(struct writing *w, struct location at, FILE *f)
{
	struct name_place place = names_find(w->names, at);

	fprintf(f, "\t%" PRIu64 "\t%" PRIu64, place.id, place.offset);
}

static void write_window(struct writing *w, FILE *f)
{
	begin_row(w, f);
	fprintf(f, "\t%" PRId64 "\t%" PRIu64 "\t", w->last_id, w->window->length_us);
	text_put(f, w->window->mode);
	fputc('\t', f);
	text_put(f, w->profile->info.event);
	fputc('\t', f);
	text_put(f, w->profile->info.cpu);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", w->window->samples, w->window->lost);
}

static void write_function(struct writing *w, const struct share *share, FILE *f)
{
	const struct profile_object *object =
		share->key.object == PROFILE_NONE ? NULL : &w->profile->objects[share->key.object];

	begin_row(w, f);
	fputc('\t', f);
	text_put(f, share->key.group);
	fputc('\t', f);
	if (object)
		text_put_hex(f, object->build_id, object->n_build_id);
	fputc('\t', f);
	text_put(f, object ? object->path : NULL);
	fputc('\t', f);
	text_put(f, share->key.symbol);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", share->self, share->total);
}

static int write_functions(struct writing *w, FILE *f)
{
	_cleanup_(shares_freep) struct shares *shares = NULL;
	int r = view_owned_shares(&shares,
				  (struct share_views){ .by = VIEW_FUNCTION, .owner = VIEW_UNIT },
				  w->profile);

	for (size_t i = 0; r >= 0 && i < shares->n_rows; i++)
		write_function(w, &shares->rows[i], f);
	return r;
}

/* One array of the places on a path: their ids, or their offsets. */
static void put_path(struct writing *w, uint32_t node, bool offsets, FILE *f)
{
	const char *separator = "\t[";

	for (; node != PROFILE_NONE; node = w->profile->stacks[node].parent) {
		struct location at =
			profile_place_frame(w->profile, w->profile->stacks[node].frame);
		struct name_place place = names_find(w->names, at);

		fprintf(f, "%s%" PRIu64, separator, offsets ? place.offset : place.id);
		separator = ",";
	}
	fputc(']', f);
}

static void write_stack(struct writing *w, uint32_t node, FILE *f)
{
	const struct profile_stack *stack = &w->profile->stacks[node];

	begin_row(w, f);
	put_unit(w, stack->process, f);
	fputc('\t', f);
	if (stack->process != PROFILE_NONE)
		text_put(f, w->profile->processes[stack->process].comm);
	put_path(w, node, false, f);
	put_path(w, node, true, f);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", stack->samples, stack->weight);
}

static void write_branch(struct writing *w, const struct profile_branch *branch, FILE *f)
{
	begin_row(w, f);
	put_unit(w, branch->process, f);
	put_place(w, branch->from, f);
	put_place(w, branch->to, f);
	fprintf(f,
		"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		"\t%d\n",
		branch->taken, branch->mispredicted, branch->predicted, branch->aborted,
		branch->cycles, branch->cycles_rows, other_is_branch(branch));
}

static void write_block(struct writing *w, const struct profile_block *block, FILE *f)
{
	bool is_other = other_is_block(block);

	begin_row(w, f);
	put_unit(w, block->process, f);
	put_place(w, (struct location){ block->object, is_other ? 0 : block->start }, f);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\n",
		is_other ? 0 : block->end - block->start, block->runs, block->cycles,
		block->cycles_rows, is_other);
}

static void put_stream(struct writing *w, uint32_t node, bool to, bool offsets, FILE *f)
{
	const char *separator = "\t[";

	for (; node != PROFILE_NONE; node = w->profile->streams[node].parent) {
		const struct profile_stream *stream = &w->profile->streams[node];
		struct location at = to ? stream->to : stream->from;
		struct name_place place;

		if (other_is_stream(stream))
			at = (struct location){ PROFILE_NONE, 0 };
		place = names_find(w->names, at);

		fprintf(f, "%s%" PRIu64, separator, offsets ? place.offset : place.id);
		separator = ",";
	}
	fputc(']', f);
}

static void write_stream(struct writing *w, uint32_t node, FILE *f)
{
	begin_row(w, f);
	put_unit(w, w->profile->streams[node].process, f);
	for (int i = 0; i < 4; i++)
		put_stream(w, node, i / 2, i % 2, f);
	fprintf(f, "\t%" PRIu64 "\t%d\n", w->profile->streams[node].hits,
		other_is_stream(&w->profile->streams[node]));
}

/* Hits in no row: of any unit and any place. */
static void write_lost_streams(struct writing *w, FILE *f)
{
	if (w->profile->counters.streams_limit == 0)
		return;
	begin_row(w, f);
	put_unit(w, PROFILE_NONE, f);
	fprintf(f, "\t[0]\t[0]\t[0]\t[0]\t%" PRIu64 "\t1\n", w->profile->counters.streams_limit);
}

static int write_long_tables(struct writing *w)
{
	const struct profile *profile = w->profile;
	FILE *const *files = w->batch->files;

	w->n = 0;
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].samples > 0)
			write_stack(w, (uint32_t)i, files[BATCH_STACKS]);
	w->n = 0;
	for (size_t i = 0; i < profile->n_branches; i++)
		write_branch(w, &profile->branches[i], files[BATCH_BRANCHES]);
	w->n = 0;
	for (size_t i = 0; i < profile->n_blocks; i++)
		write_block(w, &profile->blocks[i], files[BATCH_BLOCKS]);
	w->n = 0;
	for (size_t i = 0; i < profile->n_streams; i++)
		if (profile->streams[i].hits > 0)
			write_stream(w, (uint32_t)i, files[BATCH_STREAMS]);
	write_lost_streams(w, files[BATCH_STREAMS]);
	return names_write(w->names, w->sender->seen, w->window->start_us, files[BATCH_NAMES]);
}

/* All functions of the whole profile, and what is left of it when it is folded. */
static int write_tables(struct writing *w, struct profile *profile)
{
	FILE *const *files = w->batch->files;
	_cleanup_(names_freep) struct names *names = NULL;
	int r;

	w->profile = profile;
	r = write_functions(w, files[BATCH_FUNCTIONS]);
	r = r < 0 ? r : fold_profile(profile);
	r = r < 0 ? r : names_new(&names, profile, w->sender->host);
	if (r < 0)
		return r;
	w->names = names;
	r = write_long_tables(w);
	if (r < 0)
		return r;
	w->n = 0;
	write_window(w, files[BATCH_WINDOWS]);
	return 0;
}

static int write_profile(struct writing *w, struct profile *profile)
{
	enum format format = w->sender->format;
	enum batch_table table = format == FORMAT_OTLP ? BATCH_OTLP : BATCH_PPROF;
	int r = fold_processes(profile);

	return r < 0 ? r :
		       as_profile_write(profile, w->window, w->sender->host, format,
					w->batch->files[table]);
}

static void note_window(struct batch *batch, const struct window_info *window, int64_t last_id)
{
	if (batch->end_us == 0)
		batch->first_us = batch->last_us = window->start_us;
	/* the clock may be put back */
	batch->first_us = MIN(batch->first_us, window->start_us);
	batch->last_us = MAX(batch->last_us, window->start_us);
	batch->end_us = windows_end_us(window);
	batch->last_id = last_id;
	batch->first_id = batch->first_id ?: window->id;
}

int batch_add(struct batch *batch, const struct batch_sender *sender,
	      const struct window_info *window, int64_t last_id, struct profile *profile)
{
	struct writing w = {
		.batch = batch,
		.sender = sender,
		.window = window,
		.last_id = last_id,
	};
	int r = format_is_profile(sender->format) ? write_profile(&w, profile) :
						    write_tables(&w, profile);

	if (r < 0)
		return r;
	note_window(batch, window, last_id);
	for (int i = 0; i < N_BATCH_TABLES; i++)
		if (fflush(batch->files[i]) != 0)
			return -ENOMEM;
	return 0;
}

size_t batch_bytes(const struct batch *batch)
{
	size_t n = 0;

	for (int i = 0; i < N_BATCH_TABLES; i++)
		n += batch->sizes[i];
	return n;
}

static int compress_text(struct batch *batch, int table)
{
	_cleanup_(gzip_freep) struct gzip *gzip = NULL;
	char *compressed = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&compressed, &size);
	int r = f ? gzip_new(&gzip, f, GZIP_SMALL) : -ENOMEM;

	if (r >= 0) {
		gzip_write(gzip, batch->texts[table], batch->sizes[table]);
		gzip_finish(gzip);
	}
	if (f && fclose(f) != 0)
		r = -ENOMEM;
	if (r < 0) {
		free(compressed);
		return r;
	}
	free(batch->texts[table]);
	batch->texts[table] = compressed;
	batch->sizes[table] = size;
	return 0;
}

int batch_finish(struct batch *batch)
{
	int r = 0;

	for (int i = 0; i < N_BATCH_TABLES; i++)
		if (batch->files[i] && fclose(TAKE_PTR(batch->files[i])) != 0)
			r = -ENOMEM;
	for (int i = 0; r >= 0 && i < N_BATCH_TABLES; i++)
		if (batch->sizes[i] > 0 && i != BATCH_PPROF)
			r = compress_text(batch, i);
	return r;
}
