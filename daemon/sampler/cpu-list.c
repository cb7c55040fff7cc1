/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/cpu-list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The list of CPUs on line: short for any number of CPUs, because it has few gaps. */
static int read_online(char *ret, size_t n)
{
	_cleanup_fclose_ FILE *f = fopen("/sys/devices/system/cpu/online", "re");

	if (!f)
		return -errno;
	return fgets(ret, (int)n, f) ? 0 : -EBADMSG;
}

int cpu_list_read_online(bool **ret, uint32_t n)
{
	_cleanup_free_ bool *flags = calloc(n ? n : 1, sizeof(*flags));
	char text[4096];
	int r;

	if (!flags)
		return -ENOMEM;
	r = read_online(text, sizeof(text));
	if (r >= 0)
		r = cpu_list_parse(flags, n, text);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(flags);
	return 0;
}

int cpu_list_first_online(void)
{
	char text[4096];

	return read_online(text, sizeof(text)) < 0 ? 0 : atoi(text);
}
