/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast unwind tables are made, and how large they are.
 *
 *     measure-tables [--all] FILE...
 *
 * For each file that has a table, largest first with --all, and for all of them: rows, bytes, ms of
 * the CPU, rows a second. Of a file that has call frame information and no table: why is not known.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/elf/image.h"
#include "common/elf/unwind-rows.h"
#include "common/util/cleanup.h"

struct sum {
	size_t n_files, n_rows, n_bytes;
	double seconds;
};

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void show(const char *name, const struct sum *sum)
{
	printf("%-52s %9zu rows %9.1f KiB %8.1f ms %9.0f rows/s\n", name, sum->n_rows,
	       (double)sum->n_bytes / 1024, sum->seconds * 1e3,
	       sum->seconds > 0 ? (double)sum->n_rows / sum->seconds : 0);
}

static void measure(const char *path, bool all, struct sum *sum)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	struct unwind_table table = {};
	struct sum one = { .n_files = 1 };
	double begin = cpu_seconds();
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0 || elf_image_open(&image, fd) < 0)
		return;
	r = unwind_rows_read(image, &image->loads, &table);
	one.seconds = cpu_seconds() - begin;
	one.n_rows = table.n_rows;
	one.n_bytes = r < 0 ? 0 : unwind_table_bytes(&table);
	if (all || r < 0)
		show(path, &one);
	if (r < 0)
		printf("%s: %s\n", path, strerror(-r));
	sum->n_files++;
	sum->n_rows += one.n_rows;
	sum->n_bytes += one.n_bytes;
	sum->seconds += one.seconds;
	unwind_table_done(&table);
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "--all");
	struct sum sum = {};

	for (int i = 1 + all; i < argc; i++)
		measure(argv[i], all, &sum);
	show("together", &sum);
	return sum.n_files == 0;
}
