/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types that the symbolizer shares with its parts: settings, answers, problems. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/source-frame.h"
#include "common/profile/profile.h"

struct parser;
struct symbol_table;

struct failures;

/* Keeps the symbols of kernels with a build-id, without those of modules, from one run of the
 * program to the next. */
struct symbol_keeper {
	/* 1 and *@ret; 0 if they are not kept; -ENOMEM. */
	int (*load)(const struct profile_object *object, struct symbol_table **ret, void *userdata);
	void (*save)(const struct profile_object *object, const struct symbol_table *table,
		     void *userdata);
	void *userdata;
};

/* A file that is not on this machine. */
struct symbolizer_wanted {
	const uint8_t *build_id;
	size_t n_build_id;
	const char *path; /* of the object, to name it */
	bool is_debug;    /* its separate debug file, and not itself */
};

struct symbolizer_settings {
	const char *symfs;     /* prefix of all object paths, or NULL */
	const char *debug_dir; /* searched for debug files before the usual folders, or NULL */
	const char *home;      /* has perf's cache, .debug, or NULL */
	bool att;              /* instructions of x86 as AT&T writes them */
	const char *kallsyms;  /* kernel symbols; NULL: /proc/kallsyms, for this kernel only */

	/*
	 * Opens a file that may be the object's, or NULL. For files that the path does not lead to:
	 * they are in another mount namespace, or were replaced. Called until a file has the right
	 * identity; *@cursor is 0 in the first call and belongs to the callback from then on.
	 * Returns a descriptor, or a negative errno if there are no more files; then the usual
	 * search follows.
	 */
	int (*open)(const struct profile_object *object, unsigned int *cursor, void *userdata);
	/*
	 * Opens the file perf-PID.map of @object, the anonymous memory of a process: a descriptor
	 * of a regular file, or -errno. NULL: the usual search.
	 */
	int (*open_jit)(const struct profile_object *object, void *userdata);
	/*
	 * Opens /proc/kallsyms for a process without the right to see its addresses: a descriptor
	 * or -errno. NULL: the process opens it by itself.
	 */
	int (*open_kallsyms)(void *userdata);
	/*
	 * Gets a file from another machine: a descriptor or -errno. The file may be anything; it is
	 * read by a parser for such files alone. NULL: files of this machine alone.
	 */
	int (*fetch)(const struct symbolizer_wanted *wanted, void *userdata);
	void *userdata;
	bool only_open; /* search no path that a profile or a file names */

	/* Reads the files, borrowed. NULL: one of its own, whose processes it starts itself. */
	struct parser *parser;

	/* Copied. No load(): nothing is kept. */
	struct symbol_keeper keeper;

	/* Files that are not tried again. The object cache has its own. */
	struct failures *failures;

	size_t max_bytes;      /* of symbols kept after a profile was symbolized; 0: 256 MiB */
	size_t max_code_bytes; /* of code read for the fingerprints of a profile; 0: take none */
};

/* A function, by offsets of its object. */
struct symbol {
	uint64_t start;
	uint64_t size;
	const char *name; /* demangled, or "puts@plt" of a PLT stub; borrowed from the symbolizer */
};

/* Reports an object without symbols: its path and the reason. */
typedef void (*symbolizer_problem_handler)(const char *path, const char *why, void *userdata);
