/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/kallsyms is long, and the kernel writes each line of it when it is read. While a module is
 * being loaded, it has the module's initial code as well, which goes away: then nothing is kept.
 */
#include "daemon/naming/kept-symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/naming/symbols-file.h"

#define MAX_FILES 1024
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

/* The path of a module is its name in brackets. */
static bool is_loaded(const struct profile_object *object)
{
	char path[128], text[8] = "";
	_cleanup_close_ int fd = -1;

	if (object->kind == OBJECT_KERNEL)
		return true;
	snprintf(path, sizeof(path), "/sys/module/%.*s/initstate", (int)strlen(object->path) - 2,
		 object->path + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, "live\n") == 0;
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

	if (!is_loaded(object) || symbols_content_make(&symbols, table) < 0)
		return;
	content.n_bytes = symbols_file_bytes(&symbols);
	kept_files_put(userdata, &id, NULL, &content);
	symbols_content_done(&symbols);
}

struct symbol_keeper kept_symbols_keeper(struct kept_files *kept)
{
	return (struct symbol_keeper){ load, save, kept };
}
