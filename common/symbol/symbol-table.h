/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of one object, by offset.
 *
 * It is filled in any order from what a symbol table says, and sealed: of several names of one
 * address the best is kept, functions of unknown size get one, labels within functions go. Names
 * are borrowed until the table is given the memory they lie in; they are made presentable when
 * somebody first asks for them, for most are never shown.
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
	uint64_t size;    /* 0: to the next symbol, or to the limit */
	uint64_t limit;   /* where it must have ended: the end of its section */
	const char *name; /* as the linker knows it */
	enum symbol_binding binding;
	bool label; /* no function by its type; counts where no function is */
	bool stub;  /* calls the function of that name: "puts@plt" */
};

struct symbol_table;

int symbol_table_new(struct symbol_table **ret);
struct symbol_table *symbol_table_free(struct symbol_table *table);
DEFINE_CLEANUP(struct symbol_table *, symbol_table_free);

/* The table takes @n bytes of heap memory that names lie in. 0, or -ENOMEM, and it is freed. */
int symbol_table_take_names(struct symbol_table *table, void *names, size_t n);

/* 0 or -ENOMEM. Entries that are empty (@start >= @limit) are passed over. */
int symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/* 0 or -ENOMEM. More can be added afterwards, and it sealed again; names handed out are void. */
int symbol_table_finalize(struct symbol_table *table);

/* Has a sealed table take half the memory; nothing can be added any more. 0 or -ENOMEM. */
int symbol_table_pack(struct symbol_table *table);

size_t symbol_table_count(const struct symbol_table *table);

/* The memory it takes, but for the names that were asked for. */
size_t symbol_table_bytes(const struct symbol_table *table);

/* The innermost symbol that holds @offset, or SYMBOL_TABLE_NONE. Of a sealed table. */
size_t symbol_table_find(const struct symbol_table *table, uint64_t offset);

/* As symbol_table_find(); quicker where the answer is often @hint, an earlier answer. */
size_t symbol_table_find_near(const struct symbol_table *table, uint64_t offset, size_t hint);

/*
 * Offsets around @offset, from *@first to *@last, that all have the answer @i that
 * symbol_table_find() gave for it; not all there are, where functions nest.
 */
void symbol_table_get_range(const struct symbol_table *table, uint64_t offset, size_t i,
			    uint64_t *first, uint64_t *last);

/* The @i'th by start: where it is, and the linker's name. */
struct symbol_entry symbol_table_get(const struct symbol_table *table, size_t i);

/* The demangled name, borrowed from the table, or NULL when memory ran out. */
const char *symbol_table_name(struct symbol_table *table, size_t i);
