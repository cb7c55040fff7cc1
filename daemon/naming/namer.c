/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mapped file is worth more the sooner it is opened, and a window cannot be named before the
 * files that were mapped in it: so files go first, a limited number of them at a time.
 */
#include "daemon/naming/namer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/thread.h"
#include "daemon/naming/budget.h"
#include "daemon/naming/file-table.h"
#include "daemon/naming/kept-symbols.h"
#include "daemon/naming/refused.h"
#include "daemon/naming/table-builder.h"
#include "daemon/naming/window-symbolizer.h"

#define MAX_OPEN_FILES 256
#define FILES_IN_A_ROW 64
#define PARSER_US      2000000      /* of CPU, for one file */
#define FULL_MS        50           /* until the next look whether the main thread has taken one */
#define TABLES_US      500000       /* for unwind tables, before a window is named */
#define FILES_US       1000000      /* for the files that wait when a window has come */
#define MAX_AGE_US     600000000ull /* of an open file, after a window was named */

static const struct budget_limits id_limits = {
	.files = 4096,
	.bytes = UINT64_MAX,
	.us = 8000000,
};

struct namer {
	struct opener *opener;
	struct parser *parser;
	struct mapped_files *mapped;
	struct table_exchange *tables;
	struct file_table *files;
	struct window_symbolizer *symbolizer;
	struct window_queue *from, *to;
	bool running;
	pthread_t thread;
	struct table_builder builder;
	struct budget budget; /* of reading build-ids, until the next window */
	_Atomic bool hurry;   /* the daemon ends, or sampling does */
	_Atomic uint64_t n_lost, deferred, remote, unnamed, malformed, parsers_ended[PARSER_END_N];
	struct refused refused;
};

static int read_id(int fd, const struct file_identity *identity, struct build_id *ret,
		   void *userdata)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	struct namer *namer = userdata;
	struct fault why;
	int copy, r;

	if (!budget_take(&namer->budget, identity, true))
		return -EAGAIN;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	r = copy < 0 ? -EAGAIN : parser_open(namer->parser, copy, identity->uid, &file, &why);
	budget_rest(&namer->budget);
	if (r >= 0)
		*ret = parser_file_identity(file)->build_id;
	return r == -EAGAIN || r == -ECONNREFUSED || r == -ENOMEM ? -EAGAIN : 0;
}

static void open_files(struct namer *namer, size_t max, uint64_t us);

static void on_step(void *userdata)
{
	struct namer *namer = userdata;

	table_builder_run(&namer->builder, TABLES_US, &namer->hurry);
	open_files(namer, FILES_IN_A_ROW, FILES_US);
}

static void renew_budgets(struct namer *namer)
{
	budget_begin(&namer->budget, &id_limits);
	budget_rest(&namer->budget);
	table_builder_renew_budget(&namer->builder);
}

static int on_jit(const struct opener_jit *process, struct file_identity *ret, void *userdata)
{
	struct namer *namer = userdata;

	return opener_open_jit(namer->opener, process, ret);
}

static int namer_init(struct namer *namer, const struct namer_settings *settings)
{
	struct file_table_settings files = { .max_open = MAX_OPEN_FILES,
					     .read_id = read_id,
					     .userdata = namer };
	struct window_symbolizer_settings naming = {
		.open_kallsyms = settings->open_kallsyms,
		.kallsyms_userdata = settings->userdata,
		.open_jit = on_jit,
		.step = on_step,
		.userdata = namer,
	};
	struct parser_settings parser = settings->parser;
	int r = opener_new(&namer->opener, &settings->opener);

	if (settings->symbols)
		naming.keeper = kept_symbols_keeper(settings->symbols);
	parser.cpu_us = parser.cpu_us ?: PARSER_US; /* its time by the clock depends on the load */
	renew_budgets(namer);
	files.opener = namer->opener;
	if (r >= 0)
		r = parser_new(&namer->parser, &parser);
	naming.parser = namer->parser;
	if (r >= 0)
		r = mapped_files_new(&namer->mapped);
	if (r >= 0)
		r = table_exchange_new(&namer->tables);
	if (r >= 0)
		r = file_table_new(&namer->files, &files);
	if (r >= 0)
		r = window_symbolizer_new(&namer->symbolizer, namer->files, &naming);
	if (r >= 0)
		r = window_queue_new(&namer->to, settings->max_queued);
	namer->builder.parser = namer->parser;
	namer->builder.files = namer->files;
	namer->builder.mapped = namer->mapped;
	namer->builder.exchange = namer->tables;
	namer->builder.cache = settings->table_cache;
	return r;
}

int namer_new(struct namer **ret, const struct namer_settings *settings)
{
	_cleanup_(namer_freep) struct namer *namer = calloc(1, sizeof(*namer));
	int r;

	if (!namer)
		return -ENOMEM;
	refused_init(&namer->refused);
	r = namer_init(namer, settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(namer);
	return 0;
}

struct namer *namer_free(struct namer *namer)
{
	if (!namer)
		return NULL;
	namer_stop(namer);
	window_queue_free(namer->to);
	window_symbolizer_free(namer->symbolizer);
	file_table_free(namer->files);
	mapped_files_free(namer->mapped);
	table_exchange_free(namer->tables);
	parser_free(namer->parser);
	opener_free(namer->opener);
	refused_done(&namer->refused);
	free(namer);
	return NULL;
}

struct table_exchange *namer_tables(struct namer *namer)
{
	return namer->tables;
}

struct mapped_files *namer_files(struct namer *namer)
{
	return namer->mapped;
}

/* Opens files for up to @us, and at most @max. */
static void open_files(struct namer *namer, size_t max, uint64_t us)
{
	uint64_t until = clock_us(CLOCK_MONOTONIC) + us;
	struct mapped_file *file;

	for (size_t i = 0; i < max && clock_us(CLOCK_MONOTONIC) < until; i++) {
		if (atomic_load(&namer->hurry))
			return;
		file = mapped_files_take(namer->mapped);
		if (!file)
			return;
		file_table_see(namer->files, file);
		free(file);
	}
}

/* Files that were mapped more than a window before this one are not needed any more. */
static void close_files(struct namer *namer, const struct window *window)
{
	uint64_t now = clock_us(CLOCK_REALTIME);
	uint64_t age = now - MIN(now, window->start_us) + window->length_us;

	file_table_close_old(namer->files, MIN(age, MAX_AGE_US));
	file_table_end_window(namer->files);
}

static void add_refused(const char *path, const char *why, void *userdata)
{
	refused_add(userdata, path, why);
}

/* For the other threads. */
static void publish_window(struct namer *namer)
{
	struct window_symbolizer_counts counts;

	window_symbolizer_get_counts(namer->symbolizer, &counts);
	atomic_store(&namer->deferred, counts.deferred);
	atomic_store(&namer->remote, file_table_count_remote(namer->files));
	atomic_store(&namer->unnamed, counts.unnamed);
	atomic_store(&namer->malformed, counts.malformed);
	refused_begin(&namer->refused);
	window_symbolizer_for_each_failure(namer->symbolizer, add_refused, &namer->refused);
	refused_end(&namer->refused);
}

static void publish_parsers(struct namer *namer)
{
	const struct parser_counters *counters = parser_get_counters(namer->parser);

	for (size_t i = 0; i < PARSER_END_N; i++)
		atomic_store(&namer->parsers_ended[i], counters->n_ended[i]);
}

static void lose(struct namer *namer, struct window_profile *window)
{
	profile_free(window->profile);
	window_code_free(window->code);
	atomic_fetch_add(&namer->n_lost, 1);
}

static void name_window(struct namer *namer, struct window_profile *window)
{
	struct window passed = window->window;
	bool hurry = atomic_load(&namer->hurry);

	open_files(namer, MAPPED_FILES_MAX, FILES_US);
	if (window_symbolizer_run(namer->symbolizer, window, hurry) < 0)
		lose(namer, window);
	else if (window_queue_put(namer->to, window) < 0)
		atomic_fetch_add(&namer->n_lost, 1);
	publish_window(namer);
	if (passed.open)
		return;
	close_files(namer, &passed);
	renew_budgets(namer);
	/* naming took memory of the parsers that waiting does not need */
	parser_rest(namer->parser);
}

static bool has_room(struct namer *namer)
{
	return atomic_load(&namer->hurry) || window_queue_has_room(namer->to);
}

/* Parsers that nobody asks rest meanwhile, and end. */
static void wait_for_work(struct namer *namer, bool room, bool tables_wait)
{
	int tend_ms = parser_tend(namer->parser);
	struct pollfd fds[] = {
		{ .fd = mapped_files_fd(namer->mapped), .events = POLLIN },
		{ .fd = table_exchange_wanted_fd(namer->tables), .events = POLLIN },
		{ .fd = window_queue_fd(namer->from), .events = POLLIN },
	};

	if (tables_wait)
		poll(fds, room ? 3 : 2, 0);
	else
		poll(fds, room ? 3 : 2, room ? tend_ms : FULL_MS);
}

/* Samples wait for tables, so they go first. Whether tables are left to be built. */
static bool build_tables(struct namer *namer)
{
	bool left = table_builder_run(&namer->builder, TABLES_US, &namer->hurry);

	open_files(namer, FILES_IN_A_ROW, FILES_US);
	return left;
}

static void *run(void *userdata)
{
	struct namer *namer = userdata;
	struct window_profile window;
	bool tables_wait = false;

	pthread_setname_np(pthread_self(), "namer");
	while (!window_queue_has_ended(namer->from)) {
		bool room = has_room(namer);

		wait_for_work(namer, room, tables_wait);
		tables_wait = build_tables(namer);
		if (room && window_queue_take(namer->from, &window))
			name_window(namer, &window);
		publish_parsers(namer);
	}
	window_queue_wake(namer->to);
	return NULL;
}

int namer_start(struct namer *namer, struct window_queue *from)
{
	int r;

	namer->from = from;
	r = thread_start(&namer->thread, run, namer);
	namer->running = r >= 0;
	return r;
}

void namer_stop(struct namer *namer)
{
	if (!namer->running)
		return;
	atomic_store(&namer->hurry, true);
	pthread_join(namer->thread, NULL);
	namer->running = false;
}

int namer_fd(const struct namer *namer)
{
	return window_queue_fd(namer->to);
}

bool namer_take(struct namer *namer, struct window_profile *ret)
{
	return window_queue_take(namer->to, ret);
}

uint64_t namer_take_lost(struct namer *namer)
{
	return atomic_exchange(&namer->n_lost, 0);
}

void namer_get_counts(const struct namer *namer, struct namer_counts *ret)
{
	*ret = (struct namer_counts){
		.behind = namer->from ? window_queue_count(namer->from) : 0,
		.dropped = mapped_files_dropped(namer->mapped),
		.deferred = atomic_load(&namer->deferred),
		.remote = atomic_load(&namer->remote),
		.unnamed = atomic_load(&namer->unnamed),
		.malformed = atomic_load(&namer->malformed),
	};
	opener_get_counts(namer->opener, &ret->opener);
	for (size_t i = 0; i < PARSER_END_N; i++)
		ret->parsers_ended[i] = atomic_load(&namer->parsers_ended[i]);
}

void namer_for_each_refused(struct namer *namer,
			    void (*handler)(const char *path, const char *reason, void *userdata),
			    void *userdata)
{
	refused_for_each(&namer->refused, handler, userdata);
}
