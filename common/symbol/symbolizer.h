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
#include "common/symbol/symbolizer-types.h"

struct symbolizer;

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

/* Calls @handler for each object asked for that has no symbols. */
void symbolizer_for_each_problem(const struct symbolizer *symbolizer,
				 symbolizer_problem_handler handler, void *userdata);
