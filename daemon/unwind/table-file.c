/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/table-file.h"

#include <errno.h>
#include <sys/uio.h>

#include "common/util/macro.h"
#include "daemon/kept/kept-header.h"

static const struct kept_format format = { "branchdU", UNWIND_TABLE_FORMAT };

struct header {
	struct kept_header head;
	uint32_t n_rules, n_rows;
	uint16_t machine, unused;
	uint32_t n_bytes; /* of packed rows */
};

/* The arrays of a table, in the order of the file. */
struct arrays {
	const void *start[3];
	size_t n_bytes[3];
};

static size_t measure(struct arrays *arrays, const struct unwind_table *table)
{
	arrays->n_bytes[0] = table->n_rules * sizeof(*table->rules);
	arrays->n_bytes[1] = unwind_table_n_parts(table->n_rows) * sizeof(*table->parts);
	arrays->n_bytes[2] = table->n_bytes;
	return sizeof(struct header) + arrays->n_bytes[0] + arrays->n_bytes[1] + arrays->n_bytes[2];
}

size_t table_file_bytes(const struct unwind_table *table)
{
	struct arrays arrays;

	return measure(&arrays, table);
}

int table_file_write(int fd, const struct build_id *id, const struct unwind_table *table)
{
	struct arrays arrays = { .start = { table->rules, table->parts, table->bytes } };
	struct header header = {};
	struct iovec parts[1 + ARRAY_SIZE(arrays.start)];

	measure(&arrays, table);
	kept_header_fill(&header.head, &format, id);
	header.n_rules = (uint32_t)table->n_rules;
	header.n_rows = (uint32_t)table->n_rows;
	header.machine = table->machine;
	header.n_bytes = (uint32_t)table->n_bytes;
	parts[0] = (struct iovec){ &header, sizeof(header) };
	for (size_t i = 0; i < ARRAY_SIZE(arrays.start); i++)
		parts[1 + i] = (struct iovec){ (void *)arrays.start[i], arrays.n_bytes[i] };
	return kept_header_write(fd, parts, ARRAY_SIZE(parts));
}

/* Whether the file has as much as the header promises. */
static int find_arrays(const struct header *header, size_t n, struct unwind_table *table)
{
	const uint8_t *at = (const uint8_t *)(header + 1);
	struct arrays arrays;

	if (table->n_rules > UNWIND_MAX_RULES || measure(&arrays, table) != n)
		return -EBADMSG;
	table->rules = (const struct unwind_rule *)at;
	table->parts = (const struct unwind_part *)(at += arrays.n_bytes[0]);
	table->bytes = at + arrays.n_bytes[1];
	return 0;
}

int table_file_parse(const void *bytes, size_t n, const struct build_id *id,
		     struct unwind_table *ret)
{
	const struct header *header = bytes;
	struct unwind_table table = {};
	int r;

	if (n < sizeof(*header) || n > TABLE_FILE_MAX_BYTES)
		return -EBADMSG;
	r = kept_header_check(&header->head, n, &format, id);
	if (r < 0)
		return r;
	table.machine = header->machine;
	table.n_rules = header->n_rules;
	table.n_rows = header->n_rows;
	table.n_bytes = header->n_bytes;
	r = find_arrays(header, n, &table);
	if (r < 0)
		return r;
	return unwind_table_is_valid(&table) ? unwind_table_copy(ret, &table) : -EBADMSG;
}
