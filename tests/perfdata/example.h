/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small recording in memory, with a bit of everything, and its variants: tests and the seeds of
 * the fuzzers start from it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of a file, on the heap. */
struct example {
	char *data;
	size_t n;
};

#define EXAMPLE_N_EVENTS 13 /* that its records make, without those of its build-ids */

void example_done(struct example *example);

/* As perf record writes it to a file, or with PERFDATA_PIPE to a pipe. */
void example_make(struct example *ret, unsigned int perfdata_flags);
/* The same with its records packed into COMPRESSED (81) or COMPRESSED2 (83) records, @n_piece bytes
 * in each. */
void example_pack(struct example *ret, const struct example *plain, uint32_t type, size_t n_piece);
/* A file in normal mode whose records lie @by bytes further back. */
void example_shift(struct example *ret, const struct example *plain, size_t by);

/* Where the records begin and end. */
size_t example_data_start(const struct example *example);
size_t example_data_end(const struct example *example);

/* A path to open the first @n bytes at, valid until the file descriptor *@ret_fd is closed. */
void example_open(const struct example *example, size_t n, char ret_path[32], int *ret_fd);
