/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps a file's page from N memory files, each of its own, and runs the code in all of them:
 *
 *     memfds N SECONDS OFFSET FILE
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE   4096u
#define ROUNDS 200000ul

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *map_copy(const char *page, size_t number)
{
	char name[32];
	void *map;
	int fd;

	snprintf(name, sizeof(name), "hostile-%zu", number);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, page, PAGE) != PAGE)
		err(1, "write");
	map = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

int main(int argc, char **argv)
{
	size_t n = argc == 5 ? strtoul(argv[1], NULL, 10) : 0, n_mapped = 0;
	unsigned long offset;
	char page[PAGE];
	void **maps;
	double end;
	int fd;

	if (!n)
		errx(2, "usage: memfds N SECONDS OFFSET FILE");
	maps = calloc(n, sizeof(*maps));
	fd = open(argv[4], O_RDONLY);
	if (!maps || fd < 0 || read(fd, page, PAGE) != PAGE)
		err(1, "%s", argv[4]);
	end = now() + strtod(argv[2], NULL);
	offset = strtoul(argv[3], NULL, 0);
	while (n_mapped < n && (maps[n_mapped] = map_copy(page, n_mapped)))
		n_mapped++;
	printf("%zu mapped\n", n_mapped);
	fflush(stdout);
	for (size_t i = 0; now() < end; i++)
		((void (*)(unsigned long))((char *)maps[i % n_mapped] + offset))(ROUNDS);
	return 0;
}
