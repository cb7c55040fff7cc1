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
};

/* The arrays of a table, in the order of the file. */
struct arrays {
	const void *start[3];
	size_t n_bytes[3];
};

static size_t measure(struct arrays *arrays, size_t n_rules, size_t n_rows)
{
	arrays->n_bytes[0] = n_rules * sizeof(struct unwind_rule);
	arrays->n_bytes[1] = n_rows * sizeof(uint32_t);
	arrays->n_bytes[2] = n_rows * sizeof(uint16_t);
	return sizeof(struct header) + arrays->n_bytes[0] + arrays->n_bytes[1] + arrays->n_bytes[2];
}

size_t table_file_bytes(const struct unwind_table *table)
{
	struct arrays arrays;

	return measure(&arrays, table->n_rules, table->n_rows);
}

int table_file_write(int fd, const struct build_id *id, const struct unwind_table *table)
{
	struct arrays arrays = { .start = { table->rules, table->starts, table->rule_ids } };
	struct header header = {};
	struct iovec parts[1 + ARRAY_SIZE(arrays.start)];

	measure(&arrays, table->n_rules, table->n_rows);
	kept_header_fill(&header.head, &format, id);
	header.n_rules = (uint32_t)table->n_rules;
	header.n_rows = (uint32_t)table->n_rows;
	header.machine = table->machine;
	parts[0] = (struct iovec){ &header, sizeof(header) };
	for (size_t i = 0; i < ARRAY_SIZE(arrays.start); i++)
		parts[1 + i] = (struct iovec){ (void *)arrays.start[i], arrays.n_bytes[i] };
	return kept_header_write(fd, parts, ARRAY_SIZE(parts));
}

/* Whether the file has as much as the header promises. */
static int find_arrays(const struct header *header, size_t n, struct arrays *arrays)
{
	size_t at = sizeof(*header);

	if (header->n_rules > UNWIND_MAX_RULES ||
	    measure(arrays, header->n_rules, header->n_rows) != n)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(arrays->start); i++) {
		arrays->start[i] = (const char *)header + at;
		at += arrays->n_bytes[i];
	}
	return 0;
}

int table_file_parse(const void *bytes, size_t n, const struct build_id *id,
		     struct unwind_table *ret)
{
	const struct header *header = bytes;
	struct unwind_table table = {};
	struct arrays arrays;
	int r;

	if (n < sizeof(*header) || n > TABLE_FILE_MAX_BYTES)
		return -EBADMSG;
	r = kept_header_check(&header->head, n, &format, id);
	if (r >= 0)
		r = find_arrays(header, n, &arrays);
	if (r < 0)
		return r;
	table.machine = header->machine;
	table.n_rules = header->n_rules;
	table.n_rows = header->n_rows;
	table.rules = arrays.start[0];
	table.starts = arrays.start[1];
	table.rule_ids = arrays.start[2];
	return unwind_table_is_valid(&table) ? unwind_table_copy(ret, &table) : -EBADMSG;
}
