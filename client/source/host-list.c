/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/host-list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/ssh.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define HOST_MAX_BYTES 512 /* a user, and a name of the DNS */

void host_list_done(struct host_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct host_list){};
}

/* The word of a line without comments and blanks around it. */
static char *trim(char *line)
{
	char *end;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && strchr(" \t", end[-1]); end--)
		;
	*end = '\0';
	return line;
}

static bool is_listed(const struct host_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->names[i], name) == 0)
			return true;
	return false;
}

static int add(struct host_list *list, const char *name, struct fault *fault, const char *path,
	       size_t line)
{
	int r;

	if (!ssh_is_host(name) || strlen(name) > HOST_MAX_BYTES)
		return fault_set(fault, -EINVAL, "%s:%zu: '%.200s': give [USER@]HOST, one a line",
				 path, line, name);
	if (is_listed(list, name))
		return fault_set(fault, -EINVAL,
				 "%s:%zu: %.200s is listed twice, and would count twice", path,
				 line, name);
	if (list->n == HOST_LIST_MAX)
		return fault_set(fault, -E2BIG, "%s:%zu: more than %d hosts", path, line,
				 HOST_LIST_MAX);
	r = ARRAY_RESERVE(&list->names, &list->cap, list->n + 1);
	if (r >= 0 && !(list->names[list->n] = strdup(name)))
		r = -ENOMEM;
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	list->n++;
	return 0;
}

/* The text of the file, which the caller frees. */
static int read_file(char **ret, const char *path, struct fault *fault)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = malloc(HOST_LIST_MAX_BYTES + 2);
	size_t n;

	if (!f)
		return fault_set(fault, -errno, "%s: %s", path, strerror(errno));
	if (!text)
		return fault_set(fault, -ENOMEM, "out of memory");
	n = fread(text, 1, HOST_LIST_MAX_BYTES + 1, f);
	if (ferror(f))
		return fault_set(fault, -EIO, "%s: cannot be read: is it a file?", path);
	if (n > HOST_LIST_MAX_BYTES)
		return fault_set(fault, -EFBIG, "%s: larger than %d MiB: is it a list of hosts?",
				 path, HOST_LIST_MAX_BYTES >> 20);
	if (memchr(text, '\0', n))
		return fault_set(fault, -EINVAL, "%s: not a text: write one host a line", path);
	text[n] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

int host_list_read(struct host_list *ret, const char *path, struct fault *fault)
{
	_cleanup_(host_list_done) struct host_list list = {};
	_cleanup_free_ char *text = NULL;
	char *rest, *line;
	size_t number = 0;
	int r = read_file(&text, path, fault);

	for (rest = text; r >= 0 && (line = strsep(&rest, "\n"));) {
		const char *name = trim(line);

		number++;
		if (*name)
			r = add(&list, name, fault, path, number);
	}
	if (r < 0)
		return r;
	if (list.n == 0)
		return fault_set(fault, -EINVAL, "%s: no host in it: write one a line", path);
	*ret = list;
	list = (struct host_list){};
	return 0;
}
