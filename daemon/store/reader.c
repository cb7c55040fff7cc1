/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "daemon/store/open.h"

struct store_reader {
	struct database *database;
	uint64_t number; /* of the store's databases */
	struct store_counters counters;
	struct store_read read;
	struct store_gone gone;
};

struct store_reader *store_reader_free(struct store_reader *reader)
{
	if (!reader)
		return NULL;
	database_free(reader->database);
	free(reader);
	return NULL;
}

int store_reader_new(struct store_reader **ret, struct store *store, struct fault *fault)
{
	_cleanup_(store_reader_freep) struct store_reader *reader = NULL;
	int r;

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return fault_set(fault, -ENOMEM, "%s: out of memory", store->path);
	r = store_open_own(store, &reader->database, fault);
	if (r <= 0)
		return r;
	reader->number = store->n_opened;
	r = store_counters_init(&reader->counters, reader->database);
	if (r >= 0)
		r = store_read_init(&reader->read, reader->database, &reader->counters);
	if (r >= 0)
		r = store_gone_init(&reader->gone, reader->database);
	if (r < 0)
		return database_explain(reader->database, r, fault);
	reader->gone.is_alive = store->gone.is_alive;
	*ret = TAKE_PTR(reader);
	return 1;
}

int store_reader_sum(struct store_reader *reader, const struct store_batch *batch,
		     struct window_sum *sum, size_t *ret_n, struct fault *fault)
{
	struct store_batch own = *batch;
	int r;

	r = database_begin_reading(reader->database);
	if (r >= 0)
		r = store_gone_prepare(&reader->gone, &own);
	if (r >= 0)
		r = store_read_add(&reader->read, reader->number, &own, sum, ret_n);
	database_roll_back(reader->database); /* nothing was written */
	return r < 0 ? database_explain(reader->database, r, fault) : 0;
}

int store_reader_merge(struct store_reader *reader, struct store_merge *merge, struct fault *fault)
{
	int r;

	r = database_begin_reading(reader->database);
	if (r >= 0)
		r = store_merge_make(merge, &reader->read, &reader->gone);
	database_roll_back(reader->database); /* nothing was written */
	return r < 0 ? database_explain(reader->database, r, fault) : 0;
}
