/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names the profile of a window soon after it was taken: gives its files their build-ids, and its
 * locations their functions. The files are those that the file table has opened; a file that it
 * could not open is sought through the processes that mapped it, most of which still run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/parser/parser.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer-types.h"
#include "common/util/macro.h"
#include "daemon/naming/file-table.h"
#include "daemon/window/window.h"

struct window_symbolizer;

struct window_symbolizer_counts {
	uint64_t unnamed;   /* objects without symbols, now */
	uint64_t deferred;  /* files that had no room in the budget of the last window */
	uint64_t malformed; /* lines of JIT maps that name no function, at each reading */
};

struct window_symbolizer_settings {
	struct parser *parser; /* borrowed */
	/* A descriptor of /proc/kallsyms with addresses, or -errno. NULL: opened here. */
	int (*open_kallsyms)(void *userdata);
	void *kallsyms_userdata;
	struct symbol_keeper keeper; /* see symbolizer_settings */
	/* As opener_open_jit(). NULL: none. */
	int (*open_jit)(const struct opener_jit *process, struct file_identity *ret,
			void *userdata);
	/* Called between two objects: parsers are slow on a busy machine, and the files that are
	 * mapped meanwhile must be opened before they are gone. NULL: nothing else to do. */
	void (*step)(void *userdata);
	void *userdata;
};

/* Borrows @files. 0 or -ENOMEM. */
int window_symbolizer_new(struct window_symbolizer **ret, struct file_table *files,
			  const struct window_symbolizer_settings *settings);
struct window_symbolizer *window_symbolizer_free(struct window_symbolizer *symbolizer);
DEFINE_CLEANUP(struct window_symbolizer *, window_symbolizer_free);

/*
 * Names and finalizes the profile of @window, and adds the code of its hottest functions that no
 * window before had. 0 or -ENOMEM. @hurry: opens no file.
 */
int window_symbolizer_run(struct window_symbolizer *symbolizer, struct window_profile *window,
			  bool hurry);

void window_symbolizer_get_counts(const struct window_symbolizer *symbolizer,
				  struct window_symbolizer_counts *ret);

/* Calls @handler for each object whose parser failed. The thread that names calls it. */
void window_symbolizer_for_each_failure(const struct window_symbolizer *symbolizer,
					symbolizer_problem_handler handler, void *userdata);
