/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/table-file.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "common/checksum/crc.h"
#include "common/util/macro.h"

static const char magic[8] = "branchdU";

struct header {
	char magic[8];
	char version[20]; /* of branchd: another one may make other tables of the same file */
	uint32_t format;
	uint32_t crc; /* of the rest of the header, and of all that follows */
	uint32_t n_rules, n_rows;
	uint16_t machine;
	uint8_t n_build_id;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint8_t unused;
};

#define CRC_FROM (offsetof(struct header, crc) + sizeof(uint32_t))

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

static void fill_header(struct header *ret, const struct build_id *id)
{
	*ret = (struct header){ .format = UNWIND_TABLE_FORMAT, .n_build_id = id->n };
	memcpy(ret->magic, magic, sizeof(ret->magic));
	strncpy(ret->version, BRANCHD_VERSION, sizeof(ret->version) - 1);
	memcpy(ret->build_id, id->bytes, sizeof(ret->build_id));
}

static uint32_t add_up(const struct header *header, const struct arrays *arrays)
{
	uint32_t crc = crc_add(0, (const char *)header + CRC_FROM, sizeof(*header) - CRC_FROM);

	for (size_t i = 0; i < ARRAY_SIZE(arrays->start); i++)
		crc = crc_add(crc, arrays->start[i], arrays->n_bytes[i]);
	return crc;
}

size_t table_file_bytes(const struct unwind_table *table)
{
	struct arrays arrays;

	return measure(&arrays, table->n_rules, table->n_rows);
}

int table_file_write(int fd, const struct build_id *id, const struct unwind_table *table)
{
	struct arrays arrays = { .start = { table->rules, table->starts, table->rule_ids } };
	size_t n = measure(&arrays, table->n_rules, table->n_rows);
	struct header header;
	struct iovec parts[1 + ARRAY_SIZE(arrays.start)];
	ssize_t written;

	if (n > TABLE_FILE_MAX_BYTES)
		return -EFBIG;
	fill_header(&header, id);
	header.n_rules = (uint32_t)table->n_rules;
	header.n_rows = (uint32_t)table->n_rows;
	header.machine = table->machine;
	header.crc = add_up(&header, &arrays);
	parts[0] = (struct iovec){ &header, sizeof(header) };
	for (size_t i = 0; i < ARRAY_SIZE(arrays.start); i++)
		parts[1 + i] = (struct iovec){ (void *)arrays.start[i], arrays.n_bytes[i] };
	written = writev(fd, parts, ARRAY_SIZE(parts));
	if (written < 0)
		return -errno;
	return (size_t)written == n ? 0 : -ENOSPC;
}

/* Whether the file has what the header promises, and is what was asked for. */
static int check_header(const struct header *header, size_t n, const struct build_id *id,
			struct arrays *arrays)
{
	struct header expected;
	size_t at = sizeof(*header);

	fill_header(&expected, id);
	if (memcmp(header->magic, expected.magic, sizeof(header->magic)) != 0)
		return -EBADMSG;
	if (header->format != expected.format ||
	    memcmp(header->version, expected.version, sizeof(header->version)) != 0)
		return -ESTALE;
	if (header->n_build_id != id->n ||
	    memcmp(header->build_id, id->bytes, sizeof(header->build_id)) != 0)
		return -EBADMSG;
	if (header->n_rules > UNWIND_MAX_RULES ||
	    measure(arrays, header->n_rules, header->n_rows) != n)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(arrays->start); i++) {
		arrays->start[i] = (const char *)header + at;
		at += arrays->n_bytes[i];
	}
	return header->crc == add_up(header, arrays) ? 0 : -EBADMSG;
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
	r = check_header(header, n, id, &arrays);
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
