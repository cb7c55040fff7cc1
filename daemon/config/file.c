/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libinih parses; where it differs from systemd, this file prepares its input: it gets one line
 * at a time, with continued lines joined, so that the number of the line is known, too.
 */
#include "daemon/config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/cleanup.h"

#define MAX_LINE        8192
#define MAX_FILE_BYTES  (1 << 20)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct reading {
	const char *path;
	FILE *f;
	unsigned int line; /* of the last that was read, and the first of those joined */
	unsigned int first_line;
	config_file_handler handler;
	void *userdata;
	struct fault *fault;
	int r;
};

/* Reads a line of the file into @text of @size bytes, without its end. 1, 0 at the end, -errno. */
static int read_line(struct reading *reading, char *text, size_t size)
{
	size_t n;

	if (!fgets(text, (int)size, reading->f)) {
		if (!ferror(reading->f))
			return 0;
		return fault_set(reading->fault, -EIO, "%s: cannot be read", reading->path);
	}
	n = strlen(text);
	if (reading->line++ == 0 && strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
		n -= strlen(BYTE_ORDER_MARK);
		memmove(text, text + strlen(BYTE_ORDER_MARK), n + 1);
	}
	if (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	else if (!feof(reading->f))
		return fault_set(reading->fault, -EINVAL, "%s:%u: longer than %d bytes",
				 reading->path, reading->line, MAX_LINE - 2);
	return 1;
}

static bool is_comment(const char *text)
{
	return *text == '#' || *text == ';';
}

/*
 * Reads a whole line, with those that it goes on in (comments between them are none of it), and
 * without the space it begins with, which to libinih would mean something.
 */
static int read_joined(struct reading *reading, char *text, size_t size)
{
	char line[MAX_LINE];
	size_t n = 0;
	bool goes_on;
	int r;

	reading->first_line = reading->line + 1;
	do {
		const char *start;
		size_t n_part;

		r = read_line(reading, line, sizeof(line));
		if (r < 0 || (r == 0 && n == 0))
			return r;
		if (r == 0)
			break;
		start = line + strspn(line, " \t");
		if (is_comment(start) && n > 0) {
			goes_on = true;
			continue;
		}
		n_part = strlen(start);
		goes_on = n_part > 0 && start[n_part - 1] == '\\' && !is_comment(start);
		if (n + n_part + 2 > size)
			return fault_set(reading->fault, -EINVAL, "%s:%u: longer than %d bytes",
					 reading->path, reading->first_line, MAX_LINE - 2);
		memcpy(text + n, start, n_part);
		n += n_part;
		if (goes_on)
			text[n - 1] = ' ';
	} while (goes_on);
	text[n] = '\0';
	return 1;
}

/* An ini_reader: gives line after line to libinih. */
static char *on_read(char *text, int size, void *userdata)
{
	struct reading *reading = userdata;
	int r;

	if (reading->r < 0)
		return NULL;
	r = read_joined(reading, text, (size_t)size);
	if (r < 0)
		reading->r = r;
	return r > 0 ? text : NULL;
}

static int on_assignment(void *userdata, const char *section, const char *key, const char *value)
{
	struct reading *reading = userdata;

	if (reading->r == 0)
		reading->r = reading->handler(reading->path, reading->first_line, section, key,
					      value, reading->userdata);
	return 1;
}

static int open_file(const char *path, FILE **ret, struct fault *fault)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_set(fault, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fault_set(fault, -EINVAL, "%s: is no regular file", path);
	if (st.st_size > MAX_FILE_BYTES)
		return fault_set(fault, -EFBIG, "%s: is larger than a configuration may be", path);
	*ret = fdopen(fd, "r");
	if (!*ret)
		return fault_set(fault, -ENOMEM, "%s: no memory to read it", path);
	fd = -1;
	return 0;
}

int config_file_read(const char *path, config_file_handler handler, void *userdata,
		     struct fault *fault)
{
	struct reading reading = {
		.path = path, .handler = handler, .userdata = userdata, .fault = fault
	};
	_cleanup_fclose_ FILE *f = NULL;
	int r;

	r = open_file(path, &f, fault);
	if (r < 0)
		return r;
	reading.f = f;
	ini_allow_multiline = false;
	ini_allow_inline_comments = false;
	ini_stop_on_first_error = true;
	ini_use_stack = false;
	ini_max_line = ini_initial_alloc = MAX_LINE;
	r = ini_parse_stream(on_read, &reading, on_assignment, &reading);
	if (reading.r < 0)
		return reading.r;
	if (r > 0)
		return fault_set(fault, -EINVAL,
				 "%s:%u: neither a section, \"[Name]\", nor an assignment, "
				 "\"Key=value\"",
				 path, reading.first_line);
	return r < 0 ? fault_set(fault, -ENOMEM, "%s: no memory to read it", path) : 0;
}
