/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a profile's JSON. The text is scanned in place and each row is added at once, so no tree of
 * the whole text is in memory. A table may refer to rows of a later table, so references are
 * checked at the end.
 */
#include "common/json/profile-json.h"

#include <errno.h>
#include <string.h>

#include "common/json/profile-json-columns.h"
#include "common/json/profile-json-reader.h"

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

static int read_column(struct profile_json_reader *r, const char *name)
{
	size_t length = strlen(name);

	TRY(json_scan_token(&r->s, '"'));
	if (r->s.n_bytes - r->s.at <= length || memcmp(r->s.text + r->s.at, name, length) != 0 ||
	    r->s.text[r->s.at + length] != '"')
		return fail(r, name, "not the column expected");
	r->s.at += length + 1;
	return 0;
}

/* The last of @n columns may be missing. */
static int read_columns(struct profile_json_reader *r, const struct column *columns, size_t n)
{
	size_t n_read = 0;
	int more = 0;

	TRY(json_scan_token(&r->s, '['));
	while (n_read < n && (more = json_scan_element(&r->s, n_read == 0)) > 0)
		TRY(read_column(r, columns[n_read++].name));
	TRY(more > 0 ? json_scan_token(&r->s, ']') : more);
	if (n_read < n - 1)
		return fail(r, "columns", "too few of them");
	if (r->n_columns > 0 && r->n_columns != n_read)
		return fail(r, "columns", "not as many as values in the rows");
	r->n_columns = n_read;
	return 0;
}

static int read_index(struct profile_json_reader *r, const char *name, uint64_t *ret)
{
	if (json_scan_null(&r->s)) {
		*ret = PROFILE_NONE;
		return 0;
	}
	TRY(json_scan_count(&r->s, name, ret));
	return *ret < PROFILE_NONE ? 0 : fail(r, name, "not a row of its table");
}

static int read_value(struct profile_json_reader *r, const struct column *column, uint64_t *ret)
{
	if (column->type == COLUMN_INDEX)
		return read_index(r, column->name, ret);
	if (column->type == COLUMN_OFFSET)
		return json_scan_hex(&r->s, column->name, ret);
	return json_scan_count(&r->s, column->name, ret);
}

static bool is_row_end(const struct profile_json_reader *r)
{
	struct json_scanner ahead = r->s;
	struct fault unused;

	ahead.fault = &unused;
	return json_scan_token(&ahead, ']') == 0;
}

/* Of a table whose columns follow its rows, the first row says whether it has the last of @n. */
static bool has_last(struct profile_json_reader *r, size_t n)
{
	if (r->n_columns == 0)
		r->n_columns = is_row_end(r) ? n - 1 : n;
	return r->n_columns == n;
}

static int read_row(struct profile_json_reader *r, const struct column *columns, size_t n,
		    uint64_t *ret)
{
	ret[n - 1] = 0;
	TRY(json_scan_token(&r->s, '['));
	for (size_t i = 0; i < n - 1 || (i < n && has_last(r, n)); i++) {
		if (i > 0)
			TRY(json_scan_token(&r->s, ','));
		TRY(read_value(r, &columns[i], &ret[i]));
	}
	return json_scan_token(&r->s, ']');
}

typedef int (*add_row)(struct profile_json_reader *r, const uint64_t *values);

static int read_rows(struct profile_json_reader *r, const struct column *columns, size_t n,
		     add_row add)
{
	uint64_t values[N_COLUMNS_MAX];

	TRY(json_scan_token(&r->s, '['));
	for (r->s.row = 0;; r->s.row++) {
		int more = json_scan_element(&r->s, r->s.row == 0);

		TRY(more);
		if (more == 0)
			break;
		TRY(read_row(r, columns, n, values));
		TRY(add(r, values));
	}
	r->s.row = SIZE_MAX;
	return 0;
}

static int read_table(struct profile_json_reader *r, const struct column *columns, size_t n,
		      add_row add)
{
	bool has_columns = false, has_rows = false;
	char name[JSON_NAME_MAX];
	int more;

	r->n_columns = 0;
	TRY(json_scan_token(&r->s, '{'));
	while ((more = json_scan_member(&r->s, !has_columns && !has_rows, name)) > 0) {
		if (strcmp(name, "columns") == 0 && !has_columns) {
			TRY(read_columns(r, columns, n));
			has_columns = true;
		} else if (strcmp(name, "rows") == 0 && !has_rows) {
			TRY(read_rows(r, columns, n, add));
			has_rows = true;
		} else {
			return fail(r, name, "unknown or repeated member");
		}
	}
	TRY(more);
	return has_columns && has_rows ? 0 : fail(r, NULL, "columns or rows are missing");
}

static int add_stack(struct profile_json_reader *r, const uint64_t *values)
{
	struct profile_stack stack = {
		.parent = (uint32_t)values[0],
		.process = (uint32_t)values[1],
		.frame = { (uint32_t)values[2], values[3] },
		.samples = values[4],
		.stitched = values[5],
		.weight = values[6],
		.pruned = values[7],
		.variance = values[8],
	};

	if (stack.parent != PROFILE_NONE) {
		if (stack.parent >= r->p->n_stacks)
			return fail(r, "parent", "not a row before this one");
		if (r->p->stacks[stack.parent].process != stack.process)
			return fail(r, "process", "another than the parent's");
	}
	TRY(profile_add_stack(r->p, &stack));
	return 0;
}

static int add_stream(struct profile_json_reader *r, const uint64_t *values)
{
	struct profile_stream stream = {
		.parent = (uint32_t)values[0],
		.process = (uint32_t)values[1],
		.from = { (uint32_t)values[2], values[3] },
		.to = { (uint32_t)values[4], values[5] },
		.hits = values[6],
		.pruned = values[7],
		.cycles = values[8],
		.variance = values[9],
	};

	if (stream.parent != PROFILE_NONE) {
		if (stream.parent >= r->p->n_streams)
			return fail(r, "parent", "not a row before this one");
		if (r->p->streams[stream.parent].process != stream.process)
			return fail(r, "process", "another than the parent's");
	}
	TRY(profile_add_stream(r->p, &stream));
	return 0;
}

static int add_branch(struct profile_json_reader *r, const uint64_t *values)
{
	struct profile_branch branch = {
		.process = (uint32_t)values[0],
		.from = { (uint32_t)values[1], values[2] },
		.to = { (uint32_t)values[3], values[4] },
		.kind = (enum branch_kind)values[5],
		.taken = values[6],
		.mispredicted = values[7],
		.predicted = values[8],
		.aborted = values[9],
		.cycles = values[10],
		.cycles_rows = values[11],
		.variance = values[12],
	};

	if (values[5] >= N_BRANCH_KINDS)
		return fail(r, "kind", "there is no such one");
	TRY(profile_add_branch(r->p, &branch));
	return 0;
}

static int add_block(struct profile_json_reader *r, const uint64_t *values)
{
	struct profile_block block = {
		.process = (uint32_t)values[0],
		.object = (uint32_t)values[1],
		.start = values[2],
		.end = values[3],
		.runs = values[4],
		.cycles = values[5],
		.cycles_rows = values[6],
		.variance = values[7],
	};

	TRY(profile_add_block(r->p, &block));
	return 0;
}

static int read_stacks(struct profile_json_reader *r)
{
	return read_table(r, stack_columns, ARRAY_SIZE(stack_columns), add_stack);
}

static int read_streams(struct profile_json_reader *r)
{
	return read_table(r, stream_columns, ARRAY_SIZE(stream_columns), add_stream);
}

static int read_branches(struct profile_json_reader *r)
{
	return read_table(r, branch_columns, ARRAY_SIZE(branch_columns), add_branch);
}

static int read_blocks(struct profile_json_reader *r)
{
	return read_table(r, block_columns, ARRAY_SIZE(block_columns), add_block);
}

static const struct section {
	const char *name;
	int (*read)(struct profile_json_reader *r);
} sections[] = {
	{ "info", profile_json_read_info },
	{ "counters", profile_json_read_counters },
	{ "processes", profile_json_read_processes },
	{ "objects", profile_json_read_objects },
	{ "functions", profile_json_read_functions },
	{ "stacks", read_stacks },
	{ "streams", read_streams },
	{ "branches", read_branches },
	{ "blocks", read_blocks },
};

static int read_version(struct profile_json_reader *r)
{
	char name[JSON_NAME_MAX];
	int more;

	TRY(json_scan_token(&r->s, '{'));
	more = json_scan_member(&r->s, true, name);
	TRY(more);
	if (more == 0 || strcmp(name, "profile") != 0)
		return fail(r, "profile", "must come first");
	TRY(json_scan_count(&r->s, "profile", &r->version));
	if (r->version < PROFILE_JSON_OLDEST || r->version > PROFILE_JSON_VERSION)
		return fail(r, "profile",
			    "unknown version; this program reads versions " STRING(
				    PROFILE_JSON_OLDEST) " to " STRING(PROFILE_JSON_VERSION));
	return 0;
}

/* @seen has a bit for each section read so far. */
static int read_section(struct profile_json_reader *r, const char *name, unsigned int *seen)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(sections[i].name, name) != 0)
			continue;
		if (*seen & 1U << i)
			return fail(r, name, "repeated member");
		*seen |= 1U << i;
		r->s.where = sections[i].name;
		TRY(sections[i].read(r));
		r->s.where = NULL;
		return 0;
	}
	return fail(r, name, "unknown member");
}

static int read_sections(struct profile_json_reader *r)
{
	char name[JSON_NAME_MAX];
	unsigned int seen = 0;
	int more;

	while ((more = json_scan_member(&r->s, false, name)) > 0)
		TRY(read_section(r, name, &seen));
	TRY(more);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!(seen & 1U << i))
			return fail(r, sections[i].name, "is missing");
	}
	return json_scan_end(&r->s);
}

static int check_index(struct profile_json_reader *r, const char *where, size_t row, uint32_t index,
		       size_t n)
{
	if (index == PROFILE_NONE || index < n)
		return 0;
	r->s.where = where;
	r->s.row = row;
	return fail(r, NULL, "refers to a process or object that is not there");
}

static int check_indices(struct profile_json_reader *r)
{
	const struct profile *p = r->p;

	for (size_t i = 0; i < p->n_functions; i++)
		TRY(check_index(r, "functions", i, p->functions[i].object, p->n_objects));
	for (size_t i = 0; i < p->n_stacks; i++) {
		TRY(check_index(r, "stacks", i, p->stacks[i].process, p->n_processes));
		TRY(check_index(r, "stacks", i, p->stacks[i].frame.object, p->n_objects));
	}
	for (size_t i = 0; i < p->n_streams; i++) {
		TRY(check_index(r, "streams", i, p->streams[i].process, p->n_processes));
		TRY(check_index(r, "streams", i, p->streams[i].from.object, p->n_objects));
		TRY(check_index(r, "streams", i, p->streams[i].to.object, p->n_objects));
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		TRY(check_index(r, "branches", i, p->branches[i].process, p->n_processes));
		TRY(check_index(r, "branches", i, p->branches[i].from.object, p->n_objects));
		TRY(check_index(r, "branches", i, p->branches[i].to.object, p->n_objects));
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		TRY(check_index(r, "blocks", i, p->blocks[i].process, p->n_processes));
		TRY(check_index(r, "blocks", i, p->blocks[i].object, p->n_objects));
	}
	return 0;
}

int profile_json_parse(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_json_reader r = {
		.s = { .text = text, .n_bytes = n_bytes, .fault = fault, .row = SIZE_MAX },
	};

	TRY(profile_new(&profile));
	r.p = profile;
	TRY(read_version(&r));
	TRY(read_sections(&r));
	TRY(check_indices(&r));
	*ret = TAKE_PTR(profile);
	return 0;
}

int profile_json_read(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;

	TRY(profile_json_parse(&profile, text, n_bytes, fault));
	TRY(profile_finalize(profile));
	*ret = TAKE_PTR(profile);
	return 0;
}
