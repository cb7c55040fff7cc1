/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/table-cache.h"

#include "daemon/unwind/table-file.h"

int table_cache_open(struct kept_files **ret, const struct kept_files_settings *settings)
{
	struct kept_files_settings tables = *settings;

	tables.suffix = "unwind";
	tables.max_file_bytes = TABLE_FILE_MAX_BYTES;
	return kept_files_open(ret, &tables);
}

static int read_table(const void *bytes, size_t n, const struct build_id *id, void *userdata)
{
	return table_file_parse(bytes, n, id, userdata);
}

int table_cache_get(struct kept_files *cache, const struct build_id *id,
		    const struct file_identity *file, struct unwind_table *ret)
{
	return kept_files_get(cache, id, file, read_table, ret);
}

static int write_table(int fd, const struct build_id *id, const void *what)
{
	return table_file_write(fd, id, what);
}

void table_cache_put(struct kept_files *cache, const struct build_id *id,
		     const struct file_identity *file, const struct unwind_table *table)
{
	const struct kept_content content = { table_file_bytes(table), write_table, table };

	kept_files_put(cache, id, file, &content);
}
