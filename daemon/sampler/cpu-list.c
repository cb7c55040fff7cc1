/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/cpu-list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"

/* Reads a number, and moves *@at to its end. */
static bool take_number(const char **at, unsigned long *ret)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret = strtoul(*at, &end, 10);
	*at = end;
	return true;
}

int cpu_list_parse(bool *flags, uint32_t n, const char *text)
{
	unsigned long first, last;

	memset(flags, 0, n * sizeof(*flags));
	while (*text && *text != '\n') {
		if (!take_number(&text, &first))
			return -EBADMSG;
		last = first;
		if (*text == '-' && (text++, !take_number(&text, &last)))
			return -EBADMSG;
		for (unsigned long i = first; i <= last && i < n; i++)
			flags[i] = true;
		if (*text == ',')
			text++;
	}
	return 0;
}

bool cpu_list_has(const char *text, uint32_t cpu)
{
	unsigned long first, last;

	while (take_number(&text, &first)) {
		last = first;
		if (*text == '-' && (text++, !take_number(&text, &last)))
			return false;
		if (cpu >= first && cpu <= last)
			return true;
		text += *text == ',';
	}
	return false;
}

int cpu_list_open_online(void)
{
	int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The list: short for any number of CPUs, because it has few gaps. */
static int read_online(int fd, char *ret, size_t n)
{
	ssize_t n_read = pread(fd, ret, n - 1, 0);

	if (n_read <= 0)
		return n_read < 0 ? -errno : -EBADMSG;
	ret[n_read] = '\0';
	return 0;
}

int cpu_list_read_online(int fd, bool *flags, uint32_t n)
{
	char text[4096];
	int r = read_online(fd, text, sizeof(text));

	return r < 0 ? r : cpu_list_parse(flags, n, text);
}

int cpu_list_first_online(void)
{
	_cleanup_close_ int fd = cpu_list_open_online();
	char text[4096];

	return fd < 0 || read_online(fd, text, sizeof(text)) < 0 ? 0 : atoi(text);
}
