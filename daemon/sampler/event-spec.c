/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/event-spec.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "common/util/macro.h"

#define MAX_PRECISE  3
#define OTHER_CYCLES 20 /* of an event of which nothing is known */

/* Each with what it usually takes, so that a sample comes about as often as the frequency says. */
static const struct {
	const char *name;
	enum event_spec_kind kind;
	uint32_t type;
	uint64_t config;
	uint32_t cycles;
} names[] = {
#define HARDWARE EVENT_SPEC_GENERIC, PERF_TYPE_HARDWARE
#define SOFTWARE EVENT_SPEC_GENERIC, PERF_TYPE_SOFTWARE
	{ "cycles", EVENT_SPEC_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1 },
	{ "cpu-cycles", EVENT_SPEC_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1 },
	{ "branches", EVENT_SPEC_TAKEN_BRANCHES, PERF_TYPE_RAW, 0, 8 },
	{ "instructions", HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1 },
	{ "cache-references", HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 50 },
	{ "cache-misses", HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 500 },
	{ "branch-instructions", HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5 },
	{ "branch-misses", HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 200 },
	{ "bus-cycles", HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 20 },
	{ "stalled-cycles-frontend", HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 4 },
	{ "idle-cycles-frontend", HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 4 },
	{ "stalled-cycles-backend", HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 4 },
	{ "idle-cycles-backend", HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 4 },
	{ "ref-cycles", HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 1 },
	{ "cpu-clock", SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1 },
	{ "page-faults", SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 200000 },
	{ "faults", SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 200000 },
	{ "minor-faults", SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 200000 },
	{ "major-faults", SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, UINT32_MAX },
	{ "context-switches", SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 200000 },
	{ "cs", SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 200000 },
	{ "cpu-migrations", SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, UINT32_MAX },
	{ "migrations", SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, UINT32_MAX },
	{ "alignment-faults", SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, UINT32_MAX },
	{ "emulation-faults", SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, UINT32_MAX },
#undef HARDWARE
#undef SOFTWARE
};

/* "L1-dcache" and "-load-misses" together are an event. */
static const struct {
	const char *name;
	uint64_t config;
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D }, { "L1-icache", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", PERF_COUNT_HW_CACHE_LL },        { "dTLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB },     { "branch", PERF_COUNT_HW_CACHE_BPU },
	{ "node", PERF_COUNT_HW_CACHE_NODE },
};

#define ACCESS PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16
#define MISS   PERF_COUNT_HW_CACHE_RESULT_MISS << 16

static const struct {
	const char *name;
	uint64_t config;
	uint32_t cycles;
} accesses[] = {
	{ "-loads", PERF_COUNT_HW_CACHE_OP_READ << 8 | ACCESS, 4 },
	{ "-load-misses", PERF_COUNT_HW_CACHE_OP_READ << 8 | MISS, 200 },
	{ "-stores", PERF_COUNT_HW_CACHE_OP_WRITE << 8 | ACCESS, 8 },
	{ "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE << 8 | MISS, 500 },
	{ "-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | ACCESS, 200 },
	{ "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 | MISS, 500 },
};

static bool is_same(const char *name, const char *text, size_t n)
{
	return strlen(name) == n && strncmp(name, text, n) == 0;
}

static bool find_name(struct event_spec *spec, const char *text, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!is_same(names[i].name, text, n))
			continue;
		spec->kind = names[i].kind;
		spec->type = names[i].type;
		spec->config = names[i].config;
		spec->cycles = names[i].cycles;
		return true;
	}
	return false;
}

static bool find_cache(struct event_spec *spec, const char *text, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		size_t n_cache = strlen(caches[i].name);

		if (n <= n_cache || strncmp(text, caches[i].name, n_cache) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(accesses); k++) {
			if (!is_same(accesses[k].name, text + n_cache, n - n_cache))
				continue;
			spec->kind = EVENT_SPEC_GENERIC;
			spec->type = PERF_TYPE_HW_CACHE;
			spec->config = caches[i].config | accesses[k].config;
			spec->cycles = accesses[k].cycles;
			return true;
		}
	}
	return false;
}

/* "r1c4": the code in hexadecimal. */
static bool find_raw(struct event_spec *spec, const char *text, size_t n)
{
	char *end;

	if (n < 2 || n > 17 || text[0] != 'r' || !isxdigit((unsigned char)text[1]))
		return false;
	spec->config = strtoull(text + 1, &end, 16);
	if (end != text + n || spec->config == 0)
		return false;
	spec->kind = EVENT_SPEC_RAW;
	spec->type = PERF_TYPE_RAW;
	spec->cycles = OTHER_CYCLES;
	return true;
}

/* "cpu/event=0xc4,umask=0x4/": the PMU and its fields are looked for later. */
static bool find_terms(struct event_spec *spec, const char *text, size_t n)
{
	const char *slash = memchr(text, '/', n), *end = text + n - 1;

	if (!slash || slash == text || end <= slash + 1 || *end != '/')
		return false;
	for (const char *c = text; c < end; c++)
		if (c != slash && !isalnum((unsigned char)*c) && !strchr("_-=,.", *c))
			return false;
	spec->kind = EVENT_SPEC_TERMS;
	spec->cycles = OTHER_CYCLES;
	return true;
}

/* The modifier at the end: ":pp", or "pp" behind a slash. Its length. */
static size_t take_precise(struct event_spec *spec, const char *text)
{
	size_t n = strlen(text), n_precise = 0;

	while (n_precise < n && text[n - 1 - n_precise] == 'p')
		n_precise++;
	if (n_precise == 0 || n_precise > MAX_PRECISE || n_precise == n)
		return 0;
	spec->precise = (uint8_t)n_precise;
	if (text[n - 1 - n_precise] == ':')
		return n_precise + 1;
	if (text[n - 1 - n_precise] == '/')
		return n_precise;
	spec->precise = 0;
	return 0;
}

int event_spec_parse(const char *text, struct event_spec *ret)
{
	struct event_spec spec;
	size_t n = strlen(text);

	memset(&spec, 0, sizeof(spec));
	if (n == 0 || n >= sizeof(spec.text))
		return -EINVAL;
	memcpy(spec.text, text, n);
	n -= take_precise(&spec, text);
	if (!find_name(&spec, text, n) && !find_cache(&spec, text, n) &&
	    !find_raw(&spec, text, n) && !find_terms(&spec, text, n))
		return -EINVAL;
	if (spec.precise && event_spec_is_software(&spec))
		return -EINVAL;
	memcpy(ret, &spec, sizeof(spec));
	return 0;
}

const char *event_spec_text(const struct event_spec *spec)
{
	return spec->text[0] ? spec->text : "cycles";
}

bool event_spec_is_chosen(const struct event_spec *spec)
{
	return spec->precise ||
	       (spec->kind != EVENT_SPEC_CYCLES && spec->kind != EVENT_SPEC_TAKEN_BRANCHES);
}

bool event_spec_is_software(const struct event_spec *spec)
{
	return spec->kind == EVENT_SPEC_GENERIC && spec->type == PERF_TYPE_SOFTWARE;
}
