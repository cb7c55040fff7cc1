/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * check-truth: compares the truth of a simulation with independent readers of the program's file:
 * objdump for its instructions, nm for its functions.
 *
 * check-truth code PREFIX FILE: every branch, conditional and run of the truth that lies in FILE
 * must be possible in its code.
 *
 * check-truth names PREFIX FILE: prints for each sample pid, tid, and the function names from the
 * outermost to the leaf; a frame in another file has the file's name in brackets.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16

/* Runs that end in exit or exec have no branch at their end and are in no block. */
#define TAIL_RUNS 8

enum flow {
	FLOW_PLAIN,
	FLOW_CONDITIONAL,
	FLOW_JUMP,
	FLOW_CALL,
	FLOW_RETURN,
};

struct line { /* of objdump: one instruction */
	uint64_t addr;
	enum flow flow;
	bool direct;
	uint64_t target;
	uint64_t n_passed; /* how often blocks run through it without ending here */
};

struct symbol {
	uint64_t addr;
	uint64_t size;
	char name[96];
};

struct mapping {
	uint64_t image, time, start, end, bias; /* address = bias + address in the file */
	bool is_file;                           /* of FILE; its bias is known */
	char name[64];
};

static struct line *lines;
static size_t n_lines;
static struct symbol *symbols;
static size_t n_symbols;
static struct mapping *mappings;
static size_t n_mappings;
static const char *prefix, *file;
static unsigned n_errors, n_checked;

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list ap;

	if (++n_errors > 20)
		return;
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "check-truth: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *grow(void *items, size_t n, size_t size)
{
	void *grown = n & (n - 1) ? items : reallocarray(items, n ? 2 * n : 1, size);

	if (!grown)
		die("memory");
	return grown;
}

static FILE *run(const char *command)
{
	char line[4096];
	FILE *f;

	snprintf(line, sizeof(line), "%s '%s'", command, file);
	f = popen(line, "r");
	if (!f)
		die(command);
	return f;
}

static FILE *truth_open(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s.tsv", prefix, name);
	f = fopen(path, "re");
	if (!f)
		die(path);
	return f;
}

/* Splits the next line that is no comment; how many columns, 0 at the end. */
static int truth_read(FILE *f, char **columns)
{
	static char *line;
	static size_t size;
	char *at;
	int n = 0;

	do {
		if (getline(&line, &size, f) < 0)
			return 0;
	} while (line[0] == '#');
	line[strcspn(line, "\n")] = '\0';
	at = line;
	while (n < COLUMNS_MAX && (columns[n] = strsep(&at, "\t")))
		n++;
	return n;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

/* The program's file. */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char *skip_prefixes(const char *text)
{
	while (starts(text, "bnd ") || starts(text, "notrack ") || starts(text, "repz ") ||
	       starts(text, "cs ") || starts(text, "data16 "))
		text = strchr(text, ' ') + 1;
	return text;
}

static enum flow flow_of(const char *text)
{
	if (starts(text, "jmp"))
		return FLOW_JUMP;
	if (text[0] == 'j' || starts(text, "loop"))
		return FLOW_CONDITIONAL;
	if (starts(text, "call"))
		return FLOW_CALL;
	if (starts(text, "ret"))
		return FLOW_RETURN;
	return FLOW_PLAIN;
}

/* "  1139:\tcall   1030 <name>" with objdump --no-show-raw-insn */
static void line_parse(char *text)
{
	char *tab = strchr(text, '\t'), *end;
	const char *operand;
	struct line line = { 0 };

	if (!tab || text[0] != ' ')
		return;
	line.addr = strtoull(text, &end, 16);
	if (*end != ':')
		return;
	operand = skip_prefixes(tab + 1);
	line.flow = flow_of(operand);
	operand = strchr(operand, ' ');
	operand += operand ? strspn(operand, " ") : 0;
	if (operand && isxdigit((unsigned char)*operand) && line.flow != FLOW_PLAIN &&
	    line.flow != FLOW_RETURN) {
		line.direct = true;
		line.target = strtoull(operand, NULL, 16);
	}
	lines = grow(lines, n_lines, sizeof(*lines));
	lines[n_lines++] = line;
}

static void file_read_code(void)
{
	FILE *f = run("objdump -d --no-show-raw-insn");
	char *text = NULL;
	size_t size = 0;

	while (getline(&text, &size, f) > 0)
		line_parse(text);
	free(text);
	if (pclose(f) != 0 || n_lines == 0)
		die("objdump");
}

static void file_read_symbols(void)
{
	FILE *f = run("nm -S --defined-only");
	struct symbol symbol;
	char *text = NULL, type;
	size_t size = 0;

	while (getline(&text, &size, f) > 0) {
		if (sscanf(text, "%lx %lx %c %95s", &symbol.addr, &symbol.size, &type,
			   symbol.name) != 4 ||
		    !strchr("tTwW", type))
			continue;
		symbols = grow(symbols, n_symbols, sizeof(*symbols));
		symbols[n_symbols++] = symbol;
	}
	free(text);
	pclose(f);
}

static int line_compare(const void *key, const void *item)
{
	uint64_t addr = *(const uint64_t *)key;
	const struct line *line = item;

	return addr < line->addr ? -1 : addr > line->addr;
}

static struct line *line_find(uint64_t addr)
{
	return bsearch(&addr, lines, n_lines, sizeof(*lines), line_compare);
}

/* Mappings. */

/* The p_vaddr of the executable segment at this file offset less the offset: 0 but for odd files.
 */
static uint64_t segment_skew(uint64_t pgoff)
{
	FILE *f = run("readelf -lW");
	uint64_t offset, vaddr, skew = 0;
	char *text = NULL, type[32];
	size_t size = 0;

	while (getline(&text, &size, f) > 0)
		if (sscanf(text, " %31s 0x%lx 0x%lx", type, &offset, &vaddr) == 3 &&
		    strcmp(type, "LOAD") == 0 && (offset & ~4095UL) == pgoff)
			skew = vaddr - offset;
	free(text);
	pclose(f);
	return skew;
}

static void mappings_read(void)
{
	FILE *f = truth_open("maps");
	char *c[COLUMNS_MAX];
	struct mapping *m;
	const char *slash;

	while (truth_read(f, c) >= 7) {
		mappings = grow(mappings, n_mappings, sizeof(*mappings));
		m = &mappings[n_mappings++];
		*m = (struct mapping){
			.image = number(c[0]),
			.time = number(c[2]),
			.start = number(c[3]),
			.end = number(c[4]),
			.is_file = strcmp(c[6], file) == 0,
		};
		m->bias = m->start - number(c[5]);
		if (m->is_file)
			m->bias -= segment_skew(number(c[5]));
		slash = strrchr(c[6], '/');
		snprintf(m->name, sizeof(m->name), "[%s]", slash ? slash + 1 : c[6]);
	}
	fclose(f);
}

static const struct mapping *mapping_find(uint64_t image, uint64_t addr)
{
	size_t i;

	for (i = n_mappings; i > 0; i--)
		if (mappings[i - 1].image == image && addr >= mappings[i - 1].start &&
		    addr < mappings[i - 1].end)
			return &mappings[i - 1];
	return NULL;
}

/* True if the address lies in FILE; *ret is then the address that objdump has for it. */
static bool address_in_file(uint64_t image, uint64_t addr, uint64_t *ret)
{
	const struct mapping *m = mapping_find(image, addr);

	if (!m || !m->is_file)
		return false;
	*ret = addr - m->bias;
	return true;
}

/* code */

static void check_branch(uint64_t image, uint64_t from, uint64_t to)
{
	const struct mapping *m = mapping_find(image, from);
	const struct line *line;

	if (!m)
		complain("branch at %#" PRIx64 " in no mapping", from);
	if (!m || !m->is_file)
		return;
	n_checked++;
	line = line_find(from - m->bias);
	if (!line || line->flow == FLOW_PLAIN)
		complain("%#" PRIx64 " is no branch", from);
	else if (line->direct && line->target != to - m->bias)
		complain("%#" PRIx64 " does not go to %#" PRIx64, from, to);
}

/* Walks the run: only the last instruction may be an unconditional transfer. Adds `count` to each
 * it passes. */
static void check_run(uint64_t image, uint64_t begin, uint64_t end, uint64_t count)
{
	uint64_t first, last;
	struct line *line;

	if (!address_in_file(image, begin, &first) || !address_in_file(image, end, &last))
		return;
	n_checked++;
	line = line_find(first);
	for (; line && line < lines + n_lines && line->addr < last; line++) {
		line->n_passed += count;
		if (line->flow != FLOW_PLAIN && line->flow != FLOW_CONDITIONAL) {
			complain("run %#" PRIx64 "..%#" PRIx64 " passes %#" PRIx64, begin, end,
				 line->addr);
			return;
		}
	}
	if (!line || line == lines + n_lines || line->addr != last || line->flow == FLOW_PLAIN)
		complain("run %#" PRIx64 "..%#" PRIx64 " does not end at a branch", begin, end);
}

static void check_branches(const char *name)
{
	FILE *f = truth_open(name);
	char *c[COLUMNS_MAX];

	while (truth_read(f, c) >= 6)
		check_branch(number(c[0]), number(c[1]), number(c[2]));
	fclose(f);
}

/* Runs between rows that something broke (a signal, exec) are none and are left out. */
static void check_runs(void)
{
	FILE *f = truth_open("runs");
	char *c[COLUMNS_MAX];

	while (truth_read(f, c) >= 6)
		if (number(c[5]) == 0)
			check_run(number(c[0]), number(c[1]), number(c[2]), 0);
	fclose(f);
}

static void check_blocks(void)
{
	FILE *f = truth_open("blocks");
	char *c[COLUMNS_MAX];

	while (truth_read(f, c) >= 5)
		check_run(number(c[0]), number(c[1]), number(c[2]), number(c[3]));
	fclose(f);
}

/* A conditional branch is not taken as often as blocks run through it. Images add up on both sides.
 */
static void check_conditionals(void)
{
	FILE *f = truth_open("conditionals");
	char *c[COLUMNS_MAX];
	uint64_t addr, missing = 0;
	struct line *line;
	size_t i;

	while (truth_read(f, c) >= 6) {
		if (!address_in_file(number(c[0]), number(c[1]), &addr))
			continue;
		n_checked++;
		line = line_find(addr);
		if (!line || line->flow != FLOW_CONDITIONAL) {
			complain("%s is no conditional branch", c[1]);
			continue;
		}
		line->n_passed -= number(c[3]) - number(c[4]);
	}
	fclose(f);
	for (i = 0; i < n_lines; i++) {
		if (lines[i].flow != FLOW_CONDITIONAL)
			continue;
		missing = -lines[i].n_passed;
		if (missing > TAIL_RUNS)
			complain("conditional %#" PRIx64
				 ": blocks and executions differ by %" PRId64,
				 lines[i].addr, (int64_t)lines[i].n_passed);
	}
}

static int check_code(void)
{
	file_read_code();
	check_branches("taken");
	check_branches("pairs");
	check_runs();
	check_blocks();
	check_conditionals();
	if (n_checked == 0)
		complain("nothing of the truth lies in %s", file);
	printf("%s: %u checked, %u wrong\n", file, n_checked, n_errors);
	return n_errors > 0;
}

/* names */

static const char *address_name(uint64_t image, uint64_t addr)
{
	const struct mapping *m = mapping_find(image, addr);
	size_t i;

	if (!m)
		return "?";
	if (!m->is_file)
		return m->name;
	addr -= m->bias;
	for (i = 0; i < n_symbols; i++)
		if (addr >= symbols[i].addr && addr < symbols[i].addr + symbols[i].size)
			return symbols[i].name;
	return "[plt]";
}

static void print_stack(uint64_t image, char *stack)
{
	char *frame;

	while ((frame = strrchr(stack, ';'))) {
		*frame++ = '\0';
		printf("%s%s;", frame[0] == '!' ? "!" : "",
		       address_name(image, number(frame + (frame[0] == '!'))));
	}
	puts(address_name(image, number(stack)));
}

static int print_names(void)
{
	FILE *f = truth_open("samples");
	char *c[COLUMNS_MAX];

	file_read_symbols();
	while (truth_read(f, c) >= 12) {
		printf("%s %s ", c[2], c[3]);
		print_stack(number(c[5]), c[11]);
	}
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];

	if (argc != 4 || (strcmp(argv[1], "code") && strcmp(argv[1], "names"))) {
		fputs("usage: check-truth code|names PREFIX FILE\n", stderr);
		return 2;
	}
	prefix = argv[2];
	file = realpath(argv[3], path);
	if (!file)
		die(argv[3]);
	mappings_read();
	return strcmp(argv[1], "code") == 0 ? check_code() : print_names();
}
