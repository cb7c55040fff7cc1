/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads two libraries by turns, the second where the first has been. A sample in one of them knows
 * by its caller which it was: run_one(), run_two().
 *
 *   remap SECONDS ONE TWO
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/live/spin.h"

typedef void (*spinner)(uint64_t us);

void run_one(spinner spin);
NOT_INLINED void run_one(spinner spin)
{
	spin(3000);
	HERE;
}

void run_two(spinner spin);
NOT_INLINED void run_two(spinner spin)
{
	spin(3000);
	HERE;
}

/* Where it lay. */
static void *run_library(const char *path, void (*run)(spinner spin))
{
	void *handle = dlopen(path, RTLD_NOW), *spin = handle ? dlsym(handle, "spin") : NULL;

	if (!spin) {
		fprintf(stderr, "remap: %s\n", dlerror());
		exit(1);
	}
	run((spinner)spin);
	dlclose(handle);
	return spin;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);

	if (argc != 4)
		return 1;
	while (time(NULL) < end) {
		void *one = run_library(argv[2], run_one), *two = run_library(argv[3], run_two);

		if (one != two) {
			fprintf(stderr, "remap: the libraries do not lie in the same place\n");
			return 1;
		}
	}
	return 0;
}
