/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/kallsyms is long, and the kernel writes each line of it when it is read. Modules are few of
 * its lines, and while one is being loaded these have its initial code as well, which goes away: so
 * only the kernel's own symbols are kept, which are the same until it ends.
 */
#include "daemon/naming/kept-symbols.h"

#include <string.h>

#include "daemon/naming/symbols-file.h"

#define MAX_FILES 16
#define MAX_BYTES (64u << 20)

int kept_symbols_open(struct kept_files **ret, const struct kept_files_settings *settings)
{
	struct kept_files_settings symbols = *settings;

	symbols.suffix = "symbols";
	symbols.max_file_bytes = SYMBOLS_FILE_MAX_BYTES;
	symbols.max_bytes = MAX_BYTES;
	symbols.max_files = MAX_FILES;
	return kept_files_open(ret, &symbols);
}

static struct build_id id_of(const struct profile_object *object)
{
	struct build_id id = { .n = object->n_build_id };

	memcpy(id.bytes, object->build_id, sizeof(id.bytes));
	return id;
}

static int read_symbols(const void *bytes, size_t n, const struct build_id *id, void *userdata)
{
	return symbols_file_parse(bytes, n, id, userdata);
}

static int load(const struct profile_object *object, struct symbol_table **ret, void *userdata)
{
	const struct build_id id = id_of(object);

	return kept_files_get(userdata, &id, NULL, read_symbols, ret);
}

static int write_symbols(int fd, const struct build_id *id, const void *what)
{
	return symbols_file_write(fd, id, what);
}

static void save(const struct profile_object *object, const struct symbol_table *table,
		 void *userdata)
{
	const struct build_id id = id_of(object);
	struct symbols_content symbols;
	struct kept_content content = { .write = write_symbols, .what = &symbols };

	if (symbols_content_make(&symbols, table) < 0)
		return;
	content.n_bytes = symbols_file_bytes(&symbols);
	kept_files_put(userdata, &id, NULL, &content);
	symbols_content_done(&symbols);
}

struct symbol_keeper kept_symbols_keeper(struct kept_files *kept)
{
	return (struct symbol_keeper){ load, save, kept };
}
