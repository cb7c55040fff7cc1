/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbolizes locations: the function, the source line, the inlined calls, the machine code.
 *
 * A symbolizer finds the file of an object, reads its symbols once, and keeps both. It does not use
 * a file with another build-id than the object's. It remembers the objects without symbols, so that
 * the caller can report them once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/parser/results.h"
#include "common/profile/profile.h"
#include "common/symbol/disassembly.h"
#include "common/symbol/symbolizer-types.h"
#include "common/unwind/table.h"
#include "common/util/fault.h"

struct symbolizer;

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings);
struct symbolizer *symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(struct symbolizer *, symbolizer_free);

/* Begins to start the parser, for a caller who will symbolize a profile soon. */
void symbolizer_prepare(struct symbolizer *symbolizer);

/*
 * Finds the symbol at @offset of @object. Of @object only kind, path, build_id and base are used;
 * it may be from another profile each time. 1 and *@ret; 0 if there is no symbol or no file;
 * -ENOMEM. The name is valid until the next call.
 */
int symbolizer_find(struct symbolizer *symbolizer, const struct profile_object *object,
		    uint64_t offset, struct symbol *ret);

/*
 * The function around @offset of @object, or a part of one that lies apart, by the object's call
 * frame information. 1 and *@ret; 0 if it is not known; -ENOMEM.
 */
struct symbolizer_function {
	uint64_t start, end; /* end is exclusive */
	bool is_outermost;   /* it has no caller: a task begins there */
};

int symbolizer_function(struct symbolizer *symbolizer, const struct profile_object *object,
			uint64_t offset, struct symbolizer_function *ret);

/* The ELF virtual address of a file offset. 1 and *@ret, or 0 if the file was not found. */
int symbolizer_address(struct symbolizer *symbolizer, const struct profile_object *object,
		       uint64_t offset, uint64_t *ret);

/* The file offset of an ELF virtual address, likewise. */
int symbolizer_offset(struct symbolizer *symbolizer, const struct profile_object *object,
		      uint64_t address, uint64_t *ret);

/*
 * The source lines of @offset: the inlined calls, innermost first, then the function itself. The
 * number of frames written to @ret, at most @n; 0 without debug information.
 */
int symbolizer_lines(struct symbolizer *symbolizer, const struct profile_object *object,
		     uint64_t offset, struct source_frame *ret, size_t n);

/*
 * Looks up the lines at many offsets in one go, so that symbolizer_lines() has them. For callers
 * that need many: a single lookup costs as much as a hundred more of the same object. 0 or -ENOMEM.
 */
int symbolizer_load_lines(struct symbolizer *symbolizer, const struct profile_object *object,
			  const uint64_t *offsets, size_t n);

/*
 * Reads the machine code at @offset. The number of bytes read, at most @n, and *@ret_machine, one
 * of EM_* in elf.h; 0 if the file was not found; -ENOMEM.
 */
int symbolizer_code(struct symbolizer *symbolizer, const struct profile_object *object,
		    uint64_t offset, void *ret, size_t n, uint16_t *ret_machine);

/*
 * The unwind table of @object, for unwind_table_done(); one without rows if it has none. Its memory
 * is the symbolizer's own table, shared. 1; 0 if its file was not found or cannot be read; -ENOMEM.
 */
int symbolizer_unwind_table(struct symbolizer *symbolizer, const struct profile_object *object,
			    struct unwind_table *ret);

/* An instruction, and what it is. */
struct symbolizer_branch {
	uint64_t offset; /* in the object; given */
	bool is_known;   /* false: the object has no code there */
	enum branch_kind kind;
};

/* Fills in the kinds of @n branches of an object, sorted by offset, in one go. 0 or -ENOMEM. */
int symbolizer_branches(struct symbolizer *symbolizer, const struct profile_object *object,
			struct symbolizer_branch *branches, size_t n);

/*
 * Decodes code of @object, from its file or from elsewhere. 0; -EOPNOTSUPP for an unknown machine;
 * -EREMOTEIO or -ECONNREFUSED and @why, see parser.h; or -ENOMEM. The caller calls
 * disassembly_done() in any case.
 */
int symbolizer_disassemble(struct symbolizer *symbolizer, const struct profile_object *object,
			   const struct disassembly_code *code, struct disassembly *ret,
			   struct fault *why);

/*
 * What is at ELF virtual addresses that code refers to, of at most the first 128 Ki. 0, also
 * without a file: *@ret is empty then; or -ENOMEM. The caller frees it by parser_data_done().
 */
int symbolizer_data(struct symbolizer *symbolizer, const struct profile_object *object,
		    const uint64_t *addresses, size_t n, struct parser_data *ret);

/* As loads_fixed_range(). 0 or -ENOMEM. */
int symbolizer_fixed_range(struct symbolizer *symbolizer, const struct profile_object *object,
			   uint64_t *ret_low, uint64_t *ret_high);

/* As loads_code_start(): 1; 0 without a file or code; -ENOMEM. */
int symbolizer_code_start(struct symbolizer *symbolizer, const struct profile_object *object,
			  uint64_t *ret);

/*
 * Adds the functions of all locations of @profile to it; the caller finalizes it (again)
 * afterwards. 0 or -ENOMEM; an object without symbols is no error. All that was borrowed from the
 * symbolizer is void, because it drops the least recently used objects when it has too many.
 */
int symbolizer_add_functions(struct symbolizer *symbolizer, struct profile *profile);

/* Calls @handler for each object asked for that has no symbols. */
void symbolizer_for_each_problem(const struct symbolizer *symbolizer,
				 symbolizer_problem_handler handler, void *userdata);

/* The same, for those only whose parser failed: they are not tried again. */
void symbolizer_for_each_failure(const struct symbolizer *symbolizer,
				 symbolizer_problem_handler handler, void *userdata);

/* As object_cache_malformed(). */
uint64_t symbolizer_malformed(const struct symbolizer *symbolizer);
