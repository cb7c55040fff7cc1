/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/symbol/tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static FILE *open_output(const char *format, va_list ap)
{
	char *command;
	FILE *pipe;

	assert_true(vasprintf(&command, format, ap) >= 0);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	free(command);
	return pipe;
}

/* Taken whole, so that its end and its success are known here. */
FILE *tools_output(const char *format, ...)
{
	FILE *copy = tmpfile(), *pipe;
	char buffer[65536];
	va_list ap;
	size_t n;

	assert_non_null(copy);
	va_start(ap, format);
	pipe = open_output(format, ap);
	va_end(ap);
	while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
		assert_int_equal(fwrite(buffer, 1, n, copy), n);
	assert_int_equal(pclose(pipe), 0);
	rewind(copy);
	return copy;
}

void tools_run(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	assert_int_equal(pclose(open_output(format, ap)), 0);
	va_end(ap);
}

bool tools_have(const char *program)
{
	char command[256];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return !system(command); // NOLINT
}

size_t tools_loads(const char *file, struct tools_load *ret, size_t n)
{
	FILE *f = tools_output("readelf -lW '%s'", file);
	char line[512];
	size_t found = 0;

	while (found < n && fgets(line, sizeof(line), f))
		if (sscanf(line, " LOAD %lx %lx %*x %lx", &ret[found].offset, &ret[found].address,
			   &ret[found].size) == 3)
			found++;
	fclose(f);
	return found;
}

uint64_t tools_offset(const struct tools_load *loads, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= loads[i].address && address - loads[i].address < loads[i].size)
			return address - loads[i].address + loads[i].offset;
	return UINT64_MAX;
}

static int compare_symbols(const void *pa, const void *pb)
{
	const struct tools_symbol *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

size_t tools_symbols(const char *file, bool dynamic, struct tools_symbol **ret)
{
	FILE *f = tools_output("nm -S %s --defined-only '%s'", dynamic ? "-D" : "", file);
	struct tools_symbol *symbols = NULL;
	char line[2048];
	size_t n = 0;

	while (fgets(line, sizeof(line), f)) {
		struct tools_symbol s = { .size = 0 };

		if (sscanf(line, "%lx %lx %c %1023s", &s.address, &s.size, &s.type, s.name) != 4) {
			s.size = 0;
			if (sscanf(line, "%lx %c %1023s", &s.address, &s.type, s.name) != 3)
				continue;
		}
		if (!strchr("TtWwi", s.type))
			continue;
		s.name[strcspn(s.name, "@")] = 0;
		symbols = realloc(symbols, (n + 1) * sizeof(*symbols));
		assert_non_null(symbols);
		symbols[n++] = s;
	}
	fclose(f);
	qsort(symbols, n, sizeof(*symbols), compare_symbols);
	*ret = symbols;
	return n;
}

size_t tools_build_id(const char *file, uint8_t ret[static 20])
{
	FILE *f = tools_output("readelf -nW '%s' 2>/dev/null", file);
	char line[512], hex[64] = "";
	size_t n;

	while (!hex[0] && fgets(line, sizeof(line), f)) {
		const char *id = strstr(line, "Build ID: ");

		if (id)
			sscanf(id, "Build ID: %40s", hex);
	}
	fclose(f);
	for (n = 0; n < strlen(hex) / 2; n++)
		assert_int_equal(sscanf(hex + 2 * n, "%2hhx", &ret[n]), 1);
	return n;
}
