/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types that the symbolizer shares with its parts: settings, answers, problems. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct symbolizer_settings {
	const char *symfs;     /* prefix of all object paths, or NULL */
	const char *debug_dir; /* where debug files are sought before the usual places, or NULL */
	const char *home;      /* of whose perf the cache, ~/.debug, is sought in; or NULL */
	const char *kallsyms;  /* kernel symbols; NULL: /proc/kallsyms, for this kernel only */

	/*
	 * Or NULL: opens a file that may be the object's where its path does not lead to it from
	 * here: another mount namespace has it, or another file has its name by now. Each is
	 * checked, and the next asked for where it is another: *@cursor is 0 at first, and the
	 * owner's from then on. A descriptor, or a negative errno: there are no more, and it is
	 * sought as without.
	 */
	int (*open)(const struct profile_object *object, unsigned int *cursor, void *userdata);
	void *userdata;

	size_t max_bytes;      /* of symbols kept when a profile was named; 0: 256 MiB */
	size_t max_code_bytes; /* of machine code read for fingerprints for one profile; 0: none are
				  taken */
};

/* A function: where it starts and how long it is in the object's own offsets. */
struct symbol {
	uint64_t start;
	uint64_t size;
	const char *name; /* demangled; a PLT stub's is "puts@plt"; borrowed from the symbolizer */
};

/* One source position, innermost inlined function first. */
struct source_frame {
	const char *function; /* demangled, NULL where unknown; borrowed, as is the next */
	const char *file;
	uint32_t line;
};

/* An object without symbols: its path, and why there are none, in words. */
typedef void (*symbolizer_problem_handler)(const char *path, const char *why, void *userdata);
