/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/table-builder.h"

#include <errno.h>
#include <stdlib.h>

#include "common/symbol/vdso.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_MAPPINGS 4 /* of a file: a process that maps it may be gone */

static const struct budget_limits limits = {
	.files = 1024,
	.bytes = UINT64_MAX,
	.us = 8000000,
};

void table_builder_renew_budget(struct table_builder *builder)
{
	budget_begin(&builder->budget, &limits);
	budget_rest(&builder->budget);
}

static const struct named_file *find_trusted(const struct table_builder *b,
					     const struct file_key *key)
{
	const struct named_file *file = b->cache ? file_table_find(b->files, key) : NULL;

	return file && file->opened && file->identity.trusted ? file : NULL;
}

/* By the file itself; only if that fails its build-id is read. 1; 0: not there; -ENOMEM. */
static int find_table(struct table_builder *b, const struct file_key *key, struct unwind_table *ret)
{
	const struct named_file *file = find_trusted(b, key);
	int r;

	if (!file)
		return 0;
	r = table_cache_get(b->cache, NULL, &file->identity, ret);
	if (r != 0)
		return r;
	file_table_read(b->files, key);
	file = find_trusted(b, key);
	if (!file || !file->was_read || file->build_id.n == 0)
		return 0;
	return table_cache_get(b->cache, &file->build_id, &file->identity, ret);
}

static int open_object(struct table_builder *b, const struct file_key *key,
		       struct parser_file **ret)
{
	const struct named_file *file = file_table_find(b->files, key);
	struct fault why;
	int fd;

	if (!file)
		return -ENOENT;
	if (!budget_take(&b->budget, &file->identity, true))
		return -EAGAIN;
	fd = file_table_open(b->files, key);
	return fd < 0 ? fd : parser_open(b->parser, fd, file->identity.uid, ret, &why);
}

/* The build-id is that of the bytes that were read, whatever the file was before. */
static void keep_table(struct table_builder *b, const struct file_key *key,
		       const struct parser_file *read, const struct unwind_table *table)
{
	const struct build_id *id = &parser_file_identity(read)->build_id;
	const struct named_file *file = find_trusted(b, key);

	if (file && id->n > 0)
		table_cache_put(b->cache, id, &file->identity, table);
}

static int build_file(struct table_builder *b, const struct file_key *key, struct unwind_table *ret)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	struct fault why;
	int r;

	r = find_table(b, key, ret);
	if (r != 0)
		return r;
	r = open_object(b, key, &file);
	if (r >= 0)
		r = parser_file_unwind(file, ret, &why);
	budget_rest(&b->budget);
	if (r >= 0)
		keep_table(b, key, file, ret);
	return r;
}

static int build_vdso(const struct table_builder *b, struct unwind_table *ret)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	struct fault why;
	int r = vdso_open(b->parser, NULL, &file, &why);

	return r < 0 ? r : parser_file_unwind(file, ret, &why);
}

static struct file_key key_of(const struct wanted_table *wanted)
{
	return (struct file_key){ wanted->major, wanted->minor, wanted->inode, wanted->generation };
}

static void build(struct table_builder *b, const struct wanted_table *wanted)
{
	const struct file_key key = key_of(wanted);
	struct built_table built = { .id = wanted->id };
	int r;

	r = wanted->is_vdso ? build_vdso(b, &built.table) : build_file(b, &key, &built.table);
	/* -ENOENT: it may not have been opened yet */
	built.later = r == -EAGAIN || r == -ECONNREFUSED || r == -ENOMEM || r == -ENOENT;
	built.slow = r == -ETIME;
	table_exchange_put_built(b->exchange, &built);
}

/* A file that is wanted is opened before all others that wait for it. */
static void open_file(const struct table_builder *b, const struct file_key *key)
{
	const struct named_file *file = file_table_find(b->files, key);
	struct mapped_file *mapped;

	for (int i = 0; i < MAX_MAPPINGS && !(file && file->is_open); i++) {
		mapped = mapped_files_take_file(b->mapped, key->major, key->minor, key->inode,
						key->generation);
		if (!mapped)
			return;
		file_table_see(b->files, mapped);
		free(mapped);
		file = file_table_find(b->files, key);
	}
}

/* Whether the table was on disk, and is on its way to the collector. */
static bool take_from_cache(struct table_builder *b, const struct wanted_table *wanted)
{
	const struct file_key key = key_of(wanted);
	struct built_table built = { .id = wanted->id };
	const struct named_file *file;

	if (wanted->is_vdso)
		return false;
	open_file(b, &key);
	file = find_trusted(b, &key);
	if (!file || table_cache_get(b->cache, NULL, &file->identity, &built.table) <= 0)
		return false;
	table_exchange_put_built(b->exchange, &built);
	return true;
}

static void take_wanted(struct table_builder *b)
{
	struct wanted_table wanted;

	while (b->n_waiting < TABLE_EXCHANGE_MAX &&
	       table_exchange_take_wanted(b->exchange, &wanted))
		if (!take_from_cache(b, &wanted))
			b->waiting[(b->first + b->n_waiting++) % TABLE_EXCHANGE_MAX] = wanted;
}

bool table_builder_run(struct table_builder *builder, uint64_t us, const _Atomic bool *hurry)
{
	uint64_t until = clock_us(CLOCK_MONOTONIC) + us;

	take_wanted(builder);
	while (builder->n_waiting > 0 && clock_us(CLOCK_MONOTONIC) < until && !atomic_load(hurry)) {
		build(builder, &builder->waiting[builder->first]);
		builder->first = (builder->first + 1) % TABLE_EXCHANGE_MAX;
		builder->n_waiting--;
		take_wanted(builder);
	}
	return builder->n_waiting > 0;
}
