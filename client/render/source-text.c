/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/source-text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define MAX_BYTES (16u << 20)

struct text_file {
	UT_hash_handle hh;
	char *bytes; /* with a zero for each newline; NULL if the file is unreadable */
	char **lines;
	size_t n_lines, cap_lines;
	char path[];
};

struct source_text {
	struct text_file *files;
};

int source_text_new(struct source_text **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void free_file(struct text_file *file)
{
	free(file->bytes);
	free(file->lines);
	free(file);
}

struct source_text *source_text_free(struct source_text *text)
{
	struct text_file *file, *next;

	if (!text)
		return NULL;
	HASH_ITER(hh, text->files, file, next) {
		HASH_DEL(text->files, file);
		free_file(file);
	}
	free(text);
	return NULL;
}

/* Only regular files: reading a pipe might block. NULL if it is unreadable. */
static char *read_bytes(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	size_t n = 0;
	char *bytes;
	ssize_t k;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_BYTES)
		return NULL;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return NULL;
	while (n < (size_t)st.st_size && (k = read(fd, bytes + n, (size_t)st.st_size - n)) > 0)
		n += (size_t)k;
	bytes[n] = '\0';
	return bytes;
}

static void split_lines(struct text_file *file)
{
	char *next = file->bytes;

	while (next && *next) {
		if (ARRAY_RESERVE(&file->lines, &file->cap_lines, file->n_lines + 1) < 0)
			return;
		file->lines[file->n_lines++] = next;
		next = strchr(next, '\n');
		if (next)
			*next++ = '\0';
	}
}

static struct text_file *open_file(struct source_text *text, const char *path)
{
	size_t n = strlen(path);
	struct text_file *file;

	HASH_FIND(hh, text->files, path, n, file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file) + n + 1);
	if (!file)
		return NULL;
	memcpy(file->path, path, n + 1);
	file->bytes = read_bytes(path);
	split_lines(file);
	HASH_ADD(hh, text->files, path, n, file);
	if (file->hh.tbl)
		return file;
	free_file(file);
	return NULL;
}

const char *source_text_line(struct source_text *text, const char *path, uint32_t line)
{
	struct text_file *file = open_file(text, path);

	if (!file || line == 0 || line > file->n_lines)
		return NULL;
	return file->lines[line - 1];
}
