/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file of symbols: any bytes behind a right head and a right checksum. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/checksum/crc.h"
#include "daemon/kept/kept-header.h"
#include "daemon/naming/symbols-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct build_id id = { .bytes = { 1, 2, 3 }, .n = 20 };

/* That of an empty table, whatever the format has become. */
static bool make_header(struct kept_header *ret)
{
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	bool r = fd >= 0 && symbols_file_write(fd, &id, &(struct symbols_content){}) == 0 &&
		 pread(fd, ret, sizeof(*ret), 0) == (ssize_t)sizeof(*ret);

	if (fd >= 0)
		close(fd);
	return r;
}

static void use(struct symbol_table *table)
{
	uint64_t first, last;

	for (size_t i = 0; i < symbol_table_count(table); i++) {
		uint64_t start = symbol_table_get(table, i).start;
		size_t found = symbol_table_find(table, start);

		if (!symbol_table_name(table, i))
			abort();
		symbol_table_get_range(table, start, found, &first, &last);
		if (first > start || last < start)
			abort();
	}
}

static void parse(const void *bytes, size_t n)
{
	struct symbol_table *table;

	if (symbols_file_parse(bytes, n, &id, &table) < 0)
		return;
	use(table);
	symbol_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t crc_end = offsetof(struct kept_header, n_build_id);
	struct kept_header *header = malloc(sizeof(*header) + size);
	size_t n = sizeof(*header) + size;
	static struct kept_header made;

	if (!made.format && !make_header(&made))
		abort();
	memcpy(header, data, size); /* as it is: not even the head is right */
	parse(header, size);
	*header = made;
	memcpy(header + 1, data, size);
	header->crc = crc_add(0, (const char *)header + crc_end, n - crc_end);
	parse(header, n);
	free(header);
	return 0;
}
