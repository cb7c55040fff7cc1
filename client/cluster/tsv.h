/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of an answer in ClickHouse's format TabSeparated. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The text that is left; cells are cut out of it in place. */
struct tsv {
	char *at;
};

/*
 * The next row, of exactly @n cells: 1 and @ret, which points into the text; 0 at the end; -EBADMSG
 * if it has another number of cells.
 */
int tsv_next(struct tsv *tsv, char **ret, size_t n);

/* Decimal digits alone. -EBADMSG. */
int tsv_number(const char *cell, uint64_t *ret);
