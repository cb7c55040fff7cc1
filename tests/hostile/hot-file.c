/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the code in files as if they were libraries:
 *
 *     hot-file [--wait] SECONDS OFFSET FILE[=REPLACEMENT]...
 *
 * A replacement is renamed over the file once that is mapped. With --wait it reads the files,
 * prints "ready", and maps them executable only after a line on its input.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE      4096u
#define MAX_FILES 256
#define ROUNDS    1000000ul

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The page in memory, and in the page cache from now on. */
static void touch(int fd)
{
	const volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	(void)page[0];
}

static void wait_for_line(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

int main(int argc, char **argv)
{
	void *pages[MAX_FILES] = {};
	int fds[MAX_FILES], waits = argc > 1 && strcmp(argv[1], "--wait") == 0;
	unsigned long offset;
	double end;
	int n;

	argc -= waits;
	argv += waits;
	n = argc - 3;
	if (n < 1 || n > MAX_FILES)
		errx(2, "usage: hot-file [--wait] SECONDS OFFSET FILE[=REPLACEMENT]...");
	offset = strtoul(argv[2], NULL, 0);
	for (int i = 0; i < n; i++) {
		char *file = argv[3 + i], *equals = strchr(file, '=');

		if (equals)
			*equals = '\0';
		fds[i] = open(file, O_RDONLY);
		if (fds[i] < 0)
			err(1, "%s", file);
		touch(fds[i]);
		if (equals)
			*equals = '=';
	}
	if (waits)
		wait_for_line();
	for (int i = 0; i < n; i++) {
		char *file = argv[3 + i], *equals = strchr(file, '=');

		pages[i] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i], 0);
		if (pages[i] == MAP_FAILED)
			err(1, "mmap");
		if (!equals)
			continue;
		*equals = '\0';
		if (rename(equals + 1, file) < 0)
			err(1, "rename to %s", file);
	}
	end = now() + strtod(argv[1], NULL);
	while (now() < end)
		for (int i = 0; i < n; i++)
			((void (*)(unsigned long))((char *)pages[i] + offset))(ROUNDS);
	return 0;
}
