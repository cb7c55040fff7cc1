/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlopen N LIBRARY: loads the library, calls it N times, unloads it; three rounds. "loaded" is the
 * same, with a name for calling and unloading.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "sampled.h"
#include "work.h"

typedef uint32_t run_function(uint32_t state, unsigned n);

static _noinline_ int load_and_run(const char *path, unsigned n)
{
	run_function *run;
	void *library;

	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	run = (run_function *)dlsym(library, "plugin_run");
#ifdef SAMPLED
	sample_as("sampled");
#endif
	if (!run || run(n, n) == 0)
		return 1;
	return dlclose(library);
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 300);

	if (argc < 3)
		return 2;
	for (i = 0; i < 3; i++)
		if (load_and_run(argv[2], n))
			return 1;
	return 0;
}
