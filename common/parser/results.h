/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a parser is asked for, and what it answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/object/instruction.h"
#include "common/object/loads.h"
#include "common/object/source-frame.h"

/* What a file says about itself. */
struct parser_identity {
	uint16_t machine; /* one of EM_* in elf.h */
	struct build_id build_id;
	struct loads loads;
	char *debuglink; /* the name of its debug file, without a slash, or NULL */
	uint32_t debuglink_crc;
	bool has_symtab;      /* has a full symbol table */
	bool has_dwarf;       /* has source lines */
	uint64_t n_malformed; /* lines that name no function, see parser_open_jit() */
};

/* Offsets that have the same function, or none. */
struct parser_range {
	uint64_t first, last; /* both inclusive */
	uint64_t start, size; /* of the function */
	const char *name;     /* demangled; NULL: in no function */
	uint64_t fingerprint; /* of the function; 0: none, or not taken */
	bool fingerprinted;   /* taken, or tried */
};

struct parser_table {
	struct parser_range *rows;
	size_t n;
	void *memory; /* of the rows and their names */
};

/* Source lines of several places, in one block of memory. */
struct parser_lines {
	size_t *starts; /* the frames of place i are [starts[i], starts[i + 1]) */
	struct source_frame *frames;
	size_t n; /* places */
	void *memory;
};

/* What is at an address that code refers to. */
struct parser_datum {
	const char *name; /* NULL: nothing known */
	uint64_t offset;  /* in what has the name */
	bool is_slot;     /* an entry of the global offset table; what it points to has the name */
};

struct parser_data {
	struct parser_datum *rows;
	size_t n;
	void *memory; /* of the rows and their names */
};

/* Code to decode, from anywhere. */
struct parser_piece {
	const uint8_t *code;
	size_t n;
	uint64_t address;
	size_t max; /* instructions; SIZE_MAX: all */
};

/* Instructions of several pieces, in one block of memory; as parser_lines. */
struct parser_instructions {
	size_t *starts;
	struct instruction *rows;
	size_t n; /* pieces */
	void *memory;
};
