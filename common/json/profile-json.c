/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a profile as JSON. Strings go through jansson one by one. The numbers of the long tables,
 * nearly all of the text, are formatted here, a row at a time.
 */
#include "common/json/profile-json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/json/json-number.h"
#include "common/json/json-text.h"
#include "common/json/profile-json-columns.h"

#define VALUE_MAX 24 /* characters of a value in a row, and its comma */

struct writer {
	FILE *f;
	size_t n_columns; /* of the table that is being written */
	int error;        /* the first one, or 0 */
};

/* Writes @before, for example the name of the member, then the string. */
static void write_string(struct writer *w, const char *before, const char *s)
{
	json_t *text = json_text(s);

	if (!text) {
		w->error = w->error ?: -ENOMEM;
		return;
	}
	fputs(before, w->f);
	if (json_dumpf(text, w->f, JSON_ENCODE_ANY) < 0)
		w->error = w->error ?: -EIO;
	json_decref(text);
}

static void write_count(struct writer *w, const char *before, uint64_t count)
{
	fprintf(w->f, count > INT64_MAX ? "%s\"%" PRIu64 "\"" : "%s%" PRIu64, before, count);
}

/* Writes null for the value @unknown. */
static void write_known(struct writer *w, const char *before, uint64_t count, uint64_t unknown)
{
	if (count == unknown)
		fprintf(w->f, "%snull", before);
	else
		write_count(w, before, count);
}

static void write_bool(struct writer *w, const char *before, bool value)
{
	fprintf(w->f, "%s%s", before, value ? "true" : "false");
}

static void write_known_hex(struct writer *w, const char *before, uint64_t value)
{
	if (value == 0)
		fprintf(w->f, "%snull", before);
	else
		fprintf(w->f, "%s\"0x%" PRIx64 "\"", before, value);
}

static void write_info(struct writer *w, const struct profile_info *info)
{
	write_string(w, ",\n\"info\": {\"mode\": ", info->mode);
	write_string(w, ", \"event\": ", info->event);
	write_string(w, ", \"hostname\": ", info->hostname);
	write_string(w, ", \"os_release\": ", info->os_release);
	write_string(w, ", \"cpu\": ", info->cpu);
	write_known(w, ", \"n_cpus\": ", info->n_cpus, 0);
	write_known(w, ", \"depth\": ", info->depth, 0);
	write_known(w, ", \"start_ns\": ", info->start_ns, 0);
	write_known(w, ", \"end_ns\": ", info->end_ns, 0);
	fputc('}', w->f);
}

static void write_counters(struct writer *w, const struct profile_counters *counters)
{
	const char *comma = "";

	fputs(",\n\"counters\": {", w->f);
#define X(name, what)                                      \
	fputs(comma, w->f);                                \
	write_count(w, "\"" #name "\": ", counters->name); \
	comma = ", ";
	PROFILE_COUNTERS(X)
#undef X
	fputc('}', w->f);
}

static void write_processes(struct writer *w, const struct profile *p)
{
	fputs(",\n\"processes\": [", w->f);
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *process = &p->processes[i];

		fputs(i == 0 ? "\n" : ",\n", w->f);
		write_known(w, "{\"pid\": ", (uint64_t)process->pid, (uint64_t)-1);
		write_count(w, ", \"start_ns\": ", process->start_ns);
		write_string(w, ", \"comm\": ", process->comm);
		write_string(w, ", \"executable\": ", process->executable);
		write_string(w, ", \"unit\": ", process->unit);
		write_known(w, ", \"uid\": ", process->uid, UINT32_MAX);
		write_bool(w, ", \"restricted\": ", process->restricted);
		write_count(w, ", \"samples\": ", process->samples);
		write_count(w, ", \"gone\": ", process->n_gone);
		fputc('}', w->f);
	}
	fputc(']', w->f);
}

static void write_build_id(struct writer *w, const struct profile_object *object)
{
	fputs(object->n_build_id > 0 ? ", \"build_id\": \"" : ", \"build_id\": null", w->f);
	for (size_t i = 0; i < object->n_build_id; i++)
		fprintf(w->f, "%02x", object->build_id[i]);
	if (object->n_build_id > 0)
		fputc('"', w->f);
}

static void write_objects(struct writer *w, const struct profile *p)
{
	static_assert(ARRAY_SIZE(object_kind_names) == N_OBJECT_KINDS, "a kind has no name");

	fputs(",\n\"objects\": [", w->f);
	for (size_t i = 0; i < p->n_objects; i++) {
		const struct profile_object *object = &p->objects[i];

		fprintf(w->f, "%s{\"kind\": \"%s\"", i == 0 ? "\n" : ",\n",
			object_kind_names[object->kind]);
		write_string(w, ", \"path\": ", object->path);
		write_build_id(w, object);
		fprintf(w->f, ", \"major\": %" PRIu32 ", \"minor\": %" PRIu32, object->major,
			object->minor);
		write_known(w, ", \"inode\": ", object->inode, 0);
		write_known_hex(w, ", \"base\": ", object->base);
		write_bool(w, ", \"untrusted\": ", object->untrusted);
		write_known(w, ", \"ctime_ns\": ", object->ctime_ns, 0);
		fputc('}', w->f);
	}
	fputc(']', w->f);
}

static void write_functions(struct writer *w, const struct profile *p)
{
	fputs(",\n\"functions\": [", w->f);
	for (size_t i = 0; i < p->n_functions; i++) {
		const struct profile_function *function = &p->functions[i];

		fputs(i == 0 ? "\n" : ",\n", w->f);
		write_known(w, "{\"object\": ", function->object, PROFILE_NONE);
		fprintf(w->f, ", \"start\": \"0x%" PRIx64 "\"", function->start);
		write_count(w, ", \"size\": ", function->size);
		write_string(w, ", \"name\": ", function->name);
		write_known_hex(w, ", \"fingerprint\": ", function->fingerprint);
		fputc('}', w->f);
	}
	fputc(']', w->f);
}

static char *put_value(char *at, enum column_type type, uint64_t value)
{
	if (type == COLUMN_INDEX && value == PROFILE_NONE)
		return stpcpy(at, "null");
	if (type != COLUMN_OFFSET && value <= INT64_MAX)
		return json_put_decimal(at, value);
	*at++ = '"';
	at = type == COLUMN_OFFSET ? json_put_hex(stpcpy(at, "0x"), value) :
				     json_put_decimal(at, value);
	*at++ = '"';
	return at;
}

static bool has_variances(const void *rows, size_t n, size_t row_size, size_t offset)
{
	for (const char *row = rows; n > 0; n--, row += row_size)
		if (*(const uint64_t *)(const void *)(row + offset) > 0)
			return true;
	return false;
}

/* How many columns of a table are written. */
#define COUNT_COLUMNS(columns, rows, n) \
	(ARRAY_SIZE(columns) -          \
	 !has_variances(rows, n, sizeof(*(rows)), offsetof(typeof(*(rows)), variance)))

static void write_columns(struct writer *w, const char *table, const struct column *columns,
			  size_t n)
{
	w->n_columns = n;
	fprintf(w->f, ",\n\"%s\": {\"columns\": [", table);
	for (size_t i = 0; i < n; i++)
		fprintf(w->f, "%s\"%s\"", i == 0 ? "" : ", ", columns[i].name);
	fputs("], \"rows\": [", w->f);
}

static void write_row(struct writer *w, bool first, const struct column *columns,
		      const uint64_t *values)
{
	char row[N_COLUMNS_MAX * VALUE_MAX + 8], *at = row;

	at = stpcpy(at, first ? "\n[" : ",\n[");
	for (size_t i = 0; i < w->n_columns; i++) {
		if (i > 0)
			*at++ = ',';
		at = put_value(at, columns[i].type, values[i]);
	}
	*at++ = ']';
	fwrite(row, 1, (size_t)(at - row), w->f);
}

static void write_stacks(struct writer *w, const struct profile *p)
{
	write_columns(w, "stacks", stack_columns,
		      COUNT_COLUMNS(stack_columns, p->stacks, p->n_stacks));
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		const uint64_t values[ARRAY_SIZE(stack_columns)] = {
			s->parent,   s->process, s->frame.object, s->frame.offset, s->samples,
			s->stitched, s->weight,  s->pruned,       s->variance,
		};

		write_row(w, i == 0, stack_columns, values);
	}
	fputs("]}", w->f);
}

static void write_streams(struct writer *w, const struct profile *p)
{
	write_columns(w, "streams", stream_columns,
		      COUNT_COLUMNS(stream_columns, p->streams, p->n_streams));
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *s = &p->streams[i];
		const uint64_t values[ARRAY_SIZE(stream_columns)] = {
			s->parent,    s->process, s->from.object, s->from.offset, s->to.object,
			s->to.offset, s->hits,    s->pruned,      s->cycles,      s->variance,
		};

		write_row(w, i == 0, stream_columns, values);
	}
	fputs("]}", w->f);
}

static void write_branches(struct writer *w, const struct profile *p)
{
	write_columns(w, "branches", branch_columns,
		      COUNT_COLUMNS(branch_columns, p->branches, p->n_branches));
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];
		const uint64_t values[ARRAY_SIZE(branch_columns)] = {
			b->process, b->from.object, b->from.offset,  b->to.object, b->to.offset,
			b->kind,    b->taken,       b->mispredicted, b->predicted, b->aborted,
			b->cycles,  b->cycles_rows, b->variance,
		};

		write_row(w, i == 0, branch_columns, values);
	}
	fputs("]}", w->f);
}

static void write_blocks(struct writer *w, const struct profile *p)
{
	write_columns(w, "blocks", block_columns,
		      COUNT_COLUMNS(block_columns, p->blocks, p->n_blocks));
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];
		const uint64_t values[ARRAY_SIZE(block_columns)] = {
			b->process, b->object, b->start,       b->end,
			b->runs,    b->cycles, b->cycles_rows, b->variance,
		};

		write_row(w, i == 0, block_columns, values);
	}
	fputs("]}", w->f);
}

int profile_json_write(const struct profile *profile, FILE *f)
{
	struct writer w = { .f = f };

	assert(profile->finalized);

	fprintf(f, "{\"profile\": %d", PROFILE_JSON_VERSION);
	write_info(&w, &profile->info);
	write_counters(&w, &profile->counters);
	write_processes(&w, profile);
	write_objects(&w, profile);
	write_functions(&w, profile);
	write_stacks(&w, profile);
	write_streams(&w, profile);
	write_branches(&w, profile);
	write_blocks(&w, profile);
	fputc('}', f);
	return w.error ?: ferror(f) ? -EIO : 0;
}
