/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdw executes call frame instructions; here its results become rules.
 *
 * The information has an entry (FDE) for each function. Its address range is read first, then one
 * row after the other is asked for. libdw executes an entry from its start for each row, so an
 * entry of n rows takes n * n / 2 steps. Compilers write few long ones, but a malformed file can
 * have many: the bytes that are executed are limited. So is the time, because a single instruction
 * may name a register of any number, for which libdw makes room.
 *
 * Code that no entry describes is read itself where it is short: a section of its own, or a part
 * of one between entries. That of Go has frame pointers, and functions that begin a thread.
 */
#include "common/elf/unwind-rows.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/disassembler.h"
#include "common/elf/go-code.h"
#include "common/elf/unwind-cfi.h"
#include "common/elf/unwind-code.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/compare.h"

#define MAX_ROWS       (4U << 20)
#define MAX_WORK       (1UL << 29) /* bytes of instructions executed in all, */
#define MAX_ENTRY_WORK (1UL << 27) /* and for one entry */
#define CALL_WORK      32          /* what asking for a row costs besides */

/*
 * CPU time. Half a second is what the largest libraries take, and a byte less than a tenth of a
 * microsecond; a small file may not take as long as a large one. The clock of the CPU time is a
 * system call, so it is read only when a clock that is none has gone on.
 */
#define MAX_CPU_US   2000000
#define MIN_CPU_US   200000 /* what any file may take */
#define BYTE_CPU_US  4      /* and more for each byte of instructions, */
#define ENTRY_CPU_US 64     /* and each entry */

/* What libdw remembers of each entry, 100 bytes and more, is dropped after this number of them. */
#define REMEMBERED_ENTRIES 512

#define MAX_SECTIONS   64
#define MAX_CODE_READ  64 /* pieces of code without entries */
#define MIN_CODE_BYTES 64 /* less is padding, unless it is a section */

#define HASH_SIZE (2 * UNWIND_MAX_RULES)
#define NONE_ID   0

/* The code of an entry, by offsets in the file. */
struct span {
	uint32_t start, end;
	uint64_t address; /* of the start */
	uint32_t n_bytes; /* of its instructions */
	bool is_first;    /* it has no caller: its entry does not matter */
};

/* A section of code, by offsets as those of spans. */
struct section {
	uint64_t start, end;
	uint64_t offset; /* in the image */
	uint64_t address;
};

struct rows {
	struct elf_image *image;
	const struct loads *loads;
	struct unwind_cfi *cfi;
	struct disassembler *disassembler; /* NULL until it is needed */
	struct section sections[MAX_SECTIONS];
	size_t n_sections, next_section;
	size_t n_code_read;
	uint64_t go_start, go_end; /* Go's code, by offsets in the file */
	struct span *spans;
	size_t n_spans, cap_spans;
	uint32_t *starts;
	uint16_t *ids;
	size_t n, cap_starts, cap_ids;
	struct unwind_rule *rules;
	size_t n_rules, cap_rules;
	uint16_t *hash; /* of rules: their numbers plus one */
	uint64_t work;
	uint64_t start_us; /* of the CPU time */
	uint64_t may_us;   /* how much more of it may pass */
	uint64_t read_us;  /* the time at which it was read */
};

/* What only those who make rows need. */
static void forget_entries(struct rows *rows)
{
	rows->cfi = unwind_cfi_free(rows->cfi);
	free(rows->spans);
	rows->spans = NULL;
}

static void rows_done(struct rows *rows)
{
	forget_entries(rows);
	disassembler_free(rows->disassembler);
	free(rows->starts);
	free(rows->ids);
	free(rows->rules);
	free(rows->hash);
}

/* The offset of [@start, @end), if it is within a segment. */
static bool find_offset(const struct rows *rows, uint64_t start, uint64_t end, uint64_t *ret)
{
	const struct load *load = loads_find(rows->loads, start);
	uint64_t size = end - start;

	return load && loads_offset(rows->loads, start, ret) &&
	       size <= load->address + load->size - start && size <= UINT32_MAX &&
	       *ret <= UINT32_MAX - size;
}

static int on_entry(const struct unwind_entry *entry, void *userdata)
{
	uint64_t size = entry->end - entry->start, offset;
	struct rows *rows = userdata;

	if (!find_offset(rows, entry->start, entry->end, &offset))
		return 0;
	if (ARRAY_RESERVE(&rows->spans, &rows->cap_spans, rows->n_spans + 1) < 0)
		return -ENOMEM;
	rows->may_us += BYTE_CPU_US * entry->n_bytes + ENTRY_CPU_US;
	rows->spans[rows->n_spans++] = (struct span){
		.start = (uint32_t)offset,
		.end = (uint32_t)(offset + size),
		.address = entry->start,
		.n_bytes = (uint32_t)MIN(entry->n_bytes, (uint64_t)UINT32_MAX),
	};
	return 0;
}

static bool is_known_machine(const struct elf_image *image)
{
	return image->machine == EM_X86_64 || image->machine == EM_AARCH64;
}

static int add_go_code(struct rows *rows)
{
	struct go_code go;
	uint64_t offset;

	if (!is_known_machine(rows->image) || !go_code_read(rows->image, &go) ||
	    !find_offset(rows, go.all.start, go.all.end, &rows->go_start))
		return 0;
	rows->go_end = rows->go_start + (go.all.end - go.all.start);
	for (size_t i = 0; i < go.n_first; i++) {
		offset = rows->go_start + (go.first[i].start - go.all.start);
		if (ARRAY_RESERVE(&rows->spans, &rows->cap_spans, rows->n_spans + 1) < 0)
			return -ENOMEM;
		rows->spans[rows->n_spans++] = (struct span){
			.start = (uint32_t)offset,
			.end = (uint32_t)(offset + (go.first[i].end - go.first[i].start)),
			.is_first = true,
		};
	}
	return 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return COMPARE(x->start, y->start)               ?:
		       COMPARE(y->is_first, x->is_first) ?:
							   COMPARE(x->end, y->end);
}

static size_t hash_rule(const struct unwind_rule *rule)
{
	uint64_t words[sizeof(*rule) / sizeof(uint64_t)], hash = 0;

	_Static_assert(sizeof(words) == sizeof(*rule), "a rule consists of words");
	memcpy(words, rule, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15UL;
	return hash >> 32;
}

/* The number of a rule; that of no rule if there are too many. */
static int find_rule(struct rows *rows, const struct unwind_rule *rule, uint16_t *ret)
{
	size_t at = hash_rule(rule);
	uint16_t *slot;

	for (slot = &rows->hash[at % HASH_SIZE]; *slot; slot = &rows->hash[++at % HASH_SIZE]) {
		if (!memcmp(&rows->rules[*slot - 1], rule, sizeof(*rule))) {
			*ret = *slot - 1;
			return 0;
		}
	}
	*ret = NONE_ID;
	if (rows->n_rules == UNWIND_MAX_RULES)
		return 0;
	if (ARRAY_RESERVE(&rows->rules, &rows->cap_rules, rows->n_rules + 1) < 0)
		return -ENOMEM;
	rows->rules[rows->n_rules] = *rule;
	*ret = (uint16_t)rows->n_rules++;
	*slot = (uint16_t)rows->n_rules;
	return 0;
}

/* A row with the rule of the row before it is left out; one with its start replaces it. */
static int add_row(struct rows *rows, uint64_t start, uint16_t id)
{
	if (rows->n > 0 && rows->starts[rows->n - 1] == start)
		rows->n--;
	if (rows->n > 0 && rows->ids[rows->n - 1] % UNWIND_FUNCTION == id &&
	    !(id & UNWIND_FUNCTION))
		return 0;
	if (rows->n == MAX_ROWS)
		return -E2BIG;
	if (ARRAY_RESERVE(&rows->starts, &rows->cap_starts, rows->n + 1) < 0 ||
	    ARRAY_RESERVE(&rows->ids, &rows->cap_ids, rows->n + 1) < 0)
		return -ENOMEM;
	rows->starts[rows->n] = (uint32_t)start;
	rows->ids[rows->n++] = id;
	return 0;
}

/* Whether there is work left for another row of an entry. */
static bool may_ask(struct rows *rows, const struct span *span, uint64_t *entry_work)
{
	uint64_t work = (uint64_t)span->n_bytes + CALL_WORK;

	rows->work += work;
	*entry_work += work;
	return rows->work <= MAX_WORK && *entry_work <= MAX_ENTRY_WORK;
}

static bool is_late(struct rows *rows)
{
	uint64_t now_us;

	now_us = clock_us(CLOCK_MONOTONIC_COARSE);
	if (now_us == rows->read_us)
		return false;
	rows->read_us = now_us;
	return clock_us(CLOCK_PROCESS_CPUTIME_ID) - rows->start_us > rows->may_us;
}

/* Marks the rules from @start on, a function's, if it may replace its return address. */
static int mark_replacing(struct rows *rows, uint64_t start)
{
	size_t first = rows->n;
	bool replaces = false;
	int r = 0;

	while (first > 0 && rows->starts[first - 1] >= start) {
		first--;
		replaces |= rows->rules[rows->ids[first] % UNWIND_FUNCTION].ra == UNWIND_SAVED_HELD;
	}
	for (size_t i = first; replaces && i < rows->n && r >= 0; i++) {
		struct unwind_rule rule = rows->rules[rows->ids[i] % UNWIND_FUNCTION];
		uint16_t id;

		rule.replaces = 1;
		r = find_rule(rows, &rule, &id);
		if (r >= 0)
			rows->ids[i] = id | (rows->ids[i] & UNWIND_FUNCTION);
	}
	return r;
}

static int add_first(struct rows *rows, const struct span *span)
{
	const struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
	uint16_t id;
	int r = find_rule(rows, &rule, &id);

	return r < 0 ? r : add_row(rows, span->start, id | UNWIND_FUNCTION);
}

static int add_span(struct rows *rows, const struct span *span)
{
	uint64_t at = 0, size = span->end - span->start, work = 0, end;
	uint16_t id, function = UNWIND_FUNCTION;
	struct unwind_rule rule;
	int r = 0;

	if (span->is_first)
		return add_first(rows, span);
	while (at < size && r >= 0) {
		rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
		end = UINT64_MAX;
		if (is_late(rows))
			return -ETIME;
		if (may_ask(rows, span, &work))
			r = unwind_cfi_rule(rows->cfi, span->address + at, &rule, &end);
		if (r >= 0)
			r = find_rule(rows, &rule, &id);
		if (r >= 0)
			r = add_row(rows, span->start + at, id | function);
		function = 0;
		end = end > span->address + at ? end - span->address : at + 1;
		at = MIN(end, size);
	}
	return r < 0 ? r : mark_replacing(rows, span->start);
}

static int compare_sections(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return COMPARE(x->start, y->start);
}

static void find_sections(struct rows *rows)
{
	const struct elf_image *image = rows->image;
	uint64_t start;

	if (image->machine != EM_X86_64)
		return;
	for (size_t i = 1; i < image->n_sections && rows->n_sections < MAX_SECTIONS; i++) {
		const struct elf_section *s = &image->sections[i];

		if (!s->executable || s->type != SHT_PROGBITS ||
		    !loads_offset(rows->loads, s->address, &start) || start > UINT32_MAX ||
		    s->size > UINT32_MAX - start)
			continue;
		rows->sections[rows->n_sections++] =
			(struct section){ start, start + s->size, s->offset, s->address };
	}
	qsort(rows->sections, rows->n_sections, sizeof(*rows->sections), compare_sections);
}

static int add_code_rows(struct rows *rows, uint64_t start, const struct unwind_code_row *code,
			 size_t n)
{
	uint16_t id;
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = find_rule(rows, &code[i].rule, &id);
		if (r >= 0)
			r = add_row(rows, start + code[i].at,
				    id | (code[i].function ? UNWIND_FUNCTION : 0));
	}
	return r;
}

/* The code in [start, end), which is in a section. */
static int read_code(struct rows *rows, const struct section *s, uint64_t start, uint64_t end)
{
	bool is_all = start == s->start && end == s->end;
	struct unwind_code_row rules[UNWIND_CODE_MAX];
	uint8_t code[UNWIND_CODE_MAX];
	size_t n = end - start, n_rules;
	int r = 0;

	if (n > sizeof(code) || (n < MIN_CODE_BYTES && !is_all) ||
	    rows->n_code_read++ >= MAX_CODE_READ ||
	    elf_image_read(rows->image, s->offset + (start - s->start), code, n) < 0)
		return 0;
	if (!rows->disassembler)
		r = disassembler_new(&rows->disassembler, rows->image->machine);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	n_rules = unwind_code_read(rows->disassembler, code, n, s->address + (start - s->start),
				   rules);
	if (n_rules == 0)
		return 0;
	r = add_code_rows(rows, start, rules, n_rules);
	return r < 0 ? r : add_row(rows, end, NONE_ID);
}

/* As much of [start, end) as is of Go. */
static int add_go_rows(struct rows *rows, uint64_t start, uint64_t end)
{
	const struct unwind_rule rule = { .cfa = UNWIND_CFA_POINTER };
	uint64_t from = MAX(start, rows->go_start), to = MIN(end, rows->go_end);
	uint16_t id;
	int r;

	if (from >= to)
		return 0;
	r = find_rule(rows, &rule, &id);
	if (r >= 0)
		r = add_row(rows, from, id);
	return r < 0 ? r : add_row(rows, to, NONE_ID);
}

/* Between entries; each gap lies behind the one before. */
static int add_gap(struct rows *rows, uint64_t start, uint64_t end)
{
	int r = rows->n > 0 ? add_row(rows, start, NONE_ID) : 0;

	if (r >= 0 && start < rows->go_end && end > rows->go_start)
		return add_go_rows(rows, start, end);
	for (; rows->next_section < rows->n_sections && r >= 0; rows->next_section++) {
		const struct section *s = &rows->sections[rows->next_section];
		uint64_t from = MAX(start, s->start), to = MIN(end, s->end);

		if (from < to)
			r = read_code(rows, s, from, to);
		start = MAX(start, to);
		if (s->end > end)
			break;
	}
	return r;
}

/* Where entries overlap, the first one counts. 0, -ENODATA, -E2BIG, -ETIME or -ENOMEM. */
static int add_spans(struct rows *rows)
{
	uint64_t done = 0;
	int r = 0;

	if (rows->n_spans == 0)
		return -ENODATA;
	rows->may_us = MIN(rows->may_us, (uint64_t)MAX_CPU_US);
	qsort(rows->spans, rows->n_spans, sizeof(*rows->spans), compare_spans);
	for (size_t i = 0; i < rows->n_spans && r >= 0; i++) {
		const struct span *span = &rows->spans[i];

		if (i % REMEMBERED_ENTRIES == REMEMBERED_ENTRIES - 1 && rows->cfi)
			unwind_cfi_forget(rows->cfi);
		if (span->start < done)
			continue;
		if (span->start > done)
			r = add_gap(rows, done, span->start);
		if (r >= 0)
			r = add_span(rows, span);
		done = span->end;
	}
	return r >= 0 && rows->n > 0 ? add_gap(rows, done, UINT32_MAX) : r;
}

int unwind_rows_read(struct elf_image *image, const struct loads *loads, struct unwind_table *ret)
{
	const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
	_cleanup_(rows_done) struct rows rows = { .image = image,
						  .loads = loads,
						  .may_us = MIN_CPU_US };
	struct unwind_rows made;
	uint16_t id;
	int r;

	rows.start_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	r = unwind_cfi_open(&rows.cfi, image);
	if (r == -ENOMEM)
		return r;
	rows.hash = calloc(HASH_SIZE, sizeof(*rows.hash));
	if (!rows.hash)
		return -ENOMEM;
	r = find_rule(&rows, &none, &id);
	if (r >= 0 && rows.cfi)
		r = unwind_cfi_for_each(rows.cfi, on_entry, &rows);
	if (r >= 0)
		r = add_go_code(&rows);
	find_sections(&rows);
	if (r >= 0)
		r = add_spans(&rows);
	if (r == -E2BIG)
		return -ENODATA;
	if (r < 0 || rows.n == 0)
		return r < 0 ? r : -ENODATA;
	forget_entries(&rows);
	made = (struct unwind_rows){
		.machine = image->machine,
		.starts = rows.starts,
		.rule_ids = rows.ids,
		.n = rows.n,
		.rules = rows.rules,
		.n_rules = rows.n_rules,
	};
	return unwind_table_pack(ret, &made);
}
