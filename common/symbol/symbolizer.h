/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a place in an object to a name: which function, which source line, which inlined calls.
 *
 * A symbolizer finds the file of an object, reads its symbols once, and keeps both. A file whose
 * build-id is another one than the object's is not used. What could not be read is remembered,
 * for somebody to say once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct symbolizer;

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

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings);
struct symbolizer *symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free);

/*
 * The symbol that holds @offset of @object (of which kind, path, build_id and base are read; it
 * may be another profile's each time). 1 and *@ret, 0 where there is none or no file, or -ENOMEM.
 */
int symbolizer_find(struct symbolizer *symbolizer, const struct profile_object *object,
		    uint64_t offset, struct symbol *ret);

/* The ELF virtual address of a file offset. 1 and *@ret, or 0 where the file is not at hand. */
int symbolizer_address(struct symbolizer *symbolizer, const struct profile_object *object,
		       uint64_t offset, uint64_t *ret);

/* And back. */
int symbolizer_offset(struct symbolizer *symbolizer, const struct profile_object *object,
		      uint64_t address, uint64_t *ret);

/*
 * The source lines of @offset: the inlined calls that led there, then the function itself. The
 * number of frames written to @ret, at most @n; 0 where there is no debug information.
 */
int symbolizer_lines(struct symbolizer *symbolizer, const struct profile_object *object,
		     uint64_t offset, struct source_frame *ret, size_t n);

/*
 * The machine code at @offset: the number of bytes read, at most @n, and *@ret_machine, one of EM_*
 * in elf.h. 0 where the file is not at hand; -ENOMEM.
 */
int symbolizer_code(struct symbolizer *symbolizer, const struct profile_object *object,
		    uint64_t offset, void *ret, size_t n, uint16_t *ret_machine);

/* As elf_file_fixed_range(): what the object's code may hold as plain numbers. 0 or -ENOMEM. */
int symbolizer_fixed_range(struct symbolizer *symbolizer, const struct profile_object *object,
			   uint64_t *ret_low, uint64_t *ret_high);

/* Of a file opened for the above, the descriptor: it will be opened anew. */
void symbolizer_close_code(struct symbolizer *symbolizer, const struct profile_object *object);

/*
 * Adds to @profile the functions of all places in it; the caller seals it (again) afterwards. 0 or
 * -ENOMEM: an object without symbols is no error. Voids what was borrowed from the symbolizer, for
 * it forgets objects not used lately when it holds too many.
 */
int symbolizer_name_profile(struct symbolizer *symbolizer, struct profile *profile);

/* Calls @handler for each object asked for that gave no symbols: why, in words. */
typedef void (*symbolizer_handler)(const char *path, const char *why, void *userdata);
void symbolizer_for_each_problem(const struct symbolizer *symbolizer, symbolizer_handler handler,
				 void *userdata);
