/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file of an unwind table: any bytes behind a right head and a right checksum. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/checksum/crc.h"
#include "daemon/kept/kept-header.h"
#include "daemon/unwind/table-file.h"

#define CRC_AT   offsetof(struct kept_header, crc)
#define COUNT_AT sizeof(struct kept_header) /* the numbers, and the machine */
#define COUNT_N  16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct build_id id = { .bytes = { 1, 2, 3 }, .n = 20 };

/* The head of a table without rows is the whole file. */
static size_t make_head(uint8_t *ret, size_t n)
{
	int fd = memfd_create("table", MFD_CLOEXEC);
	ssize_t got = -1;

	if (fd >= 0 && table_file_write(fd, &id, &(struct unwind_table){}) == 0)
		got = pread(fd, ret, n, 0);
	if (fd >= 0)
		close(fd);
	return got < 0 ? 0 : (size_t)got;
}

static void use(const struct unwind_table *table)
{
	uint64_t start, end;

	if (!unwind_table_is_valid(table))
		abort();
	for (size_t i = 0; i < table->n_rows; i++) {
		struct unwind_row row = unwind_table_row(table, i);

		unwind_table_find(table, row.start);
		if (unwind_table_function(table, row.start, &start, &end) &&
		    (start > row.start || end <= row.start))
			abort();
	}
}

static void parse(const void *bytes, size_t n)
{
	struct unwind_table table;

	if (table_file_parse(bytes, n, &id, &table) < 0)
		return;
	use(&table);
	unwind_table_done(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t head[256];
	static size_t n_head;
	uint8_t *bytes;
	uint32_t crc;

	if (!n_head)
		n_head = make_head(head, sizeof(head));
	if (!n_head)
		abort();
	if (size < COUNT_N)
		return 0;
	bytes = malloc(n_head + size);
	memcpy(bytes, data, size); /* as it is: not even the head is right */
	parse(bytes, size);
	memcpy(bytes, head, n_head);
	memcpy(bytes + n_head, data + COUNT_N, size - COUNT_N);
	memcpy(bytes + COUNT_AT, data, COUNT_N);
	size = n_head + size - COUNT_N;
	crc = crc_add(0, bytes + CRC_AT + sizeof(crc), size - CRC_AT - sizeof(crc));
	memcpy(bytes + CRC_AT, &crc, sizeof(crc));
	parse(bytes, size);
	free(bytes);
	return 0;
}
