/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The namer: the thread between the collector and the main thread. It opens the files that
 * processes map, and names the windows that the collector closes: build-ids, functions, code. Only
 * this thread waits for files of strangers. While naming takes long, windows wait in front of it
 * and are merged; the collector counts on, and the main thread answers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/parser/parser.h"
#include "common/util/macro.h"
#include "daemon/opener/opener.h"
#include "daemon/sampler/mapped-files.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/unwind/table-exchange.h"
#include "daemon/window/window-queue.h"

struct namer;

struct namer_settings {
	struct opener_settings opener;
	struct parser_settings parser;
	int (*open_kallsyms)(void *userdata); /* see symbolizer_settings */
	void *userdata;
	size_t max_queued;              /* named windows that may wait for the main thread */
	struct kept_files *table_cache; /* of unwind tables; borrowed; NULL: none is kept */
	struct kept_files *symbols;     /* of the kernel, see kept-symbols.h; likewise */
};

struct namer_counts {
	struct opener_counts opener;
	uint64_t parsers_ended[PARSER_END_N]; /* by reason */
	uint64_t behind;                      /* closed windows that wait for their names, now */
	uint64_t dropped;   /* mapped files that found no room on their way to the namer */
	uint64_t deferred;  /* files that had no room in the budget of the last window */
	uint64_t remote;    /* files that are not opened because of their file systems, now */
	uint64_t unnamed;   /* objects without symbols, now */
	uint64_t malformed; /* lines of JIT maps that name no function, at each reading */
};

/* 0 or -errno. */
int namer_new(struct namer **ret, const struct namer_settings *settings);
/* Stops it first. */
struct namer *namer_free(struct namer *namer);
DEFINE_CLEANUP(struct namer *, namer_free);

/* Where unwind tables are wanted, and put when they are built. */
struct table_exchange *namer_tables(struct namer *namer);

/* Where mapped files are put. */
struct mapped_files *namer_files(struct namer *namer);

/* Starts the thread, which takes windows from @from until that has ended. Once. 0 or -errno. */
int namer_start(struct namer *namer, struct window_queue *from);

/*
 * Waits until the windows that wait have passed; @from has ended. No more files are opened for
 * them. What was named can be taken afterwards.
 */
void namer_stop(struct namer *namer);

/* Readable (epoll) when a named window waits, or when the thread has ended. */
int namer_fd(const struct namer *namer);

/* True and *@ret, named and finalized; false: none waits. */
bool namer_take(struct namer *namer, struct window_profile *ret);

/* Windows lost for lack of memory, since the last call. */
uint64_t namer_take_lost(struct namer *namer);

/* Any thread may call it. */
void namer_get_counts(const struct namer *namer, struct namer_counts *ret);

/* Calls @handler for the objects, REFUSED_MAX at most, whose parsers failed. Any thread. */
void namer_for_each_refused(struct namer *namer,
			    void (*handler)(const char *path, const char *reason, void *userdata),
			    void *userdata);
