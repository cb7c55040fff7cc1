/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the symbolizer: test programs, what nm says of them, and what the symbolizer finds.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/symbol/symbolizer.h"
#include "tests/symbol/tools.h"

static const char *dir;  /* of the test programs */
static char scratch[64]; /* a directory to make others in */

struct problems {
	int n;
	char path[4096], why[1024];
};

static inline void on_problem(const char *path, const char *why, void *userdata)
{
	struct problems *p = userdata;

	p->n++;
	snprintf(p->path, sizeof(p->path), "%s", path);
	snprintf(p->why, sizeof(p->why), "%s", why);
}

static inline struct problems problems_of(const struct symbolizer *symbolizer)
{
	struct problems p = { 0 };

	symbolizer_for_each_problem(symbolizer, on_problem, &p);
	return p;
}

static inline struct symbolizer *make(const struct symbolizer_settings *settings)
{
	struct symbolizer *s;

	assert_int_equal(symbolizer_new(&s, settings), 0);
	return s;
}

/* Where nm says that function is, as a file offset. */
static inline uint64_t offset_of(const char *file, const char *function)
{
	struct tools_load loads[32];
	struct tools_symbol *symbols;
	size_t n_loads = tools_loads(file, loads, ARRAY_SIZE(loads));
	size_t n = tools_symbols(file, false, &symbols);
	uint64_t offset = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbols[i].name, function))
			offset = tools_offset(loads, n_loads, symbols[i].address);
	free(symbols);
	assert_true(offset != UINT64_MAX);
	return offset;
}

static inline const char *program_path(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/pie", dir);
	return path;
}

static inline struct profile_object object_of(const char *path)
{
	struct profile_object object = { .kind = OBJECT_FILE, .path = path };

	object.n_build_id = (uint8_t)tools_build_id(path, object.build_id);
	return object;
}

/* The name found, or "-"; and the problem, if there is one. */
static inline const char *find(struct symbolizer *s, const struct profile_object *object,
			       uint64_t offset)
{
	struct symbol symbol;
	int r = symbolizer_find(s, object, offset, &symbol);

	assert_true(r >= 0);
	return r ? symbol.name : "-";
}

#define NO_SETTINGS (&(struct symbolizer_settings){ .max_code_bytes = SIZE_MAX })

/* Takes the programs in the directory argv[1]. 0, or the exit status where there is nothing to test
 * with. */
static inline int symbolized_begin(int argc, char **argv)
{
	dir = argc > 1 ? argv[1] : "";
	if (access(program_path(), R_OK) < 0 || !tools_have("objcopy") || !tools_have("cc")) {
		fprintf(stderr, "needs the directory of test programs, a compiler and binutils\n");
		return 77;
	}
	snprintf(scratch, sizeof(scratch), "/tmp/branchd-test-XXXXXX");
	return mkdtemp(scratch) ? 0 : 1;
}

static inline void symbolized_end(void)
{
	tools_run("rm -rf '%s'", scratch);
}
