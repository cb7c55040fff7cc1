/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of one object, by offset.
 *
 * The table is filled in any order and then finalized: of several names for one offset the best
 * stays, functions of unknown size get a size, labels inside of functions go. Names are borrowed
 * until symbol_table_take_names() takes their memory. They are demangled on demand, because most
 * are never shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define SYMBOL_TABLE_NONE SIZE_MAX

enum symbol_binding { SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL };

struct symbol_entry {
	uint64_t start;
	uint64_t size;    /* 0: unknown, to the next symbol or the limit */
	uint64_t limit;   /* the end of its section */
	const char *name; /* the linker's, mangled */
	enum symbol_binding binding;
	bool label; /* not a function by its type; used only outside of functions */
	bool stub;  /* a stub that calls the function @name: "puts@plt" */
};

struct symbol_table;

int symbol_table_new(struct symbol_table **ret);
struct symbol_table *symbol_table_free(struct symbol_table *table);
DEFINE_CLEANUP(struct symbol_table *, symbol_table_free);

/*
 * Turns a linker's name of at most @n bytes into a readable one, followed by @suffix: a new string.
 * 0 or -ENOMEM.
 */
typedef int (*symbol_demangler)(char **ret, const char *name, size_t n, const char *suffix);

/* Default: names stay as the linker has them, without its version suffix, and printable. */
void symbol_table_set_demangler(struct symbol_table *table, symbol_demangler demangler);

/* Takes @n bytes of heap memory with names in any case. 0 or -ENOMEM. */
int symbol_table_take_names(struct symbol_table *table, void *names, size_t n);

/* Adds a copy of @entry; skips it if it is empty (@start >= @limit). 0 or -ENOMEM. */
int symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/*
 * Sorts and indexes the table; names returned before are void. More may be added afterwards, and
 * the table finalized again. 0 or -ENOMEM.
 */
int symbol_table_finalize(struct symbol_table *table);

/*
 * Halves the memory of a finalized table; nothing can be added any more. Names are copied, and
 * those that the table took are freed. A table whose names overlap in what it took stays as it is.
 * 0 or -ENOMEM.
 */
int symbol_table_pack(struct symbol_table *table);

/* A function whose name is at @name of a text. */
struct symbol_row {
	uint64_t start;
	uint32_t size, name;
};

/*
 * Makes a new table, which is to be freed after an error, a finalized and packed one. The @n @rows
 * ascend by start, each ends below 2^64 and has its name in the @n_text bytes of heap memory that
 * the table takes in any case. 0 or -ENOMEM.
 */
int symbol_table_fill(struct symbol_table *table, const struct symbol_row *rows, size_t n,
		      char *text, size_t n_text);

size_t symbol_table_count(const struct symbol_table *table);

/* The memory of the table, without the demangled names. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* The innermost symbol at @offset, or SYMBOL_TABLE_NONE. The table is finalized. */
size_t symbol_table_find(const struct symbol_table *table, uint64_t offset);

/* As symbol_table_find(); faster if the result is @hint, a former result. */
size_t symbol_table_find_near(const struct symbol_table *table, uint64_t offset, size_t hint);

/*
 * A range [*@first, *@last] around @offset with the result @i of symbol_table_find(). Where
 * functions nest it may not be the largest such range.
 */
void symbol_table_get_range(const struct symbol_table *table, uint64_t offset, size_t i,
			    uint64_t *first, uint64_t *last);

/* The @i'th symbol by start, with the linker's name. */
struct symbol_entry symbol_table_get(const struct symbol_table *table, size_t i);

/* The demangled name, borrowed from the table, or NULL if memory ran out. */
const char *symbol_table_name(struct symbol_table *table, size_t i);
