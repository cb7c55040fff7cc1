/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWARF by libdw.
 *
 * Not every compiler writes .debug_aranges. So units are indexed by their own ranges when a file is
 * opened, and the functions of a unit at the first lookup in it. From the function a search
 * descends through the inlined calls that contain the address. The innermost call has the position
 * of the line table, each outer one the position of the call inside it.
 *
 * Limits: a function outside of all units with ranges has no lines. At most MAX_DEPTH levels and
 * MAX_DIES entries of DWARF are followed, because damaged siblings may point anywhere. Split DWARF
 * works if libdw finds the .dwo files.
 */
#include "common/elf/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "common/elf/demangle.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/strings.h"

#define MAX_DEPTH 128
#define MAX_DIES  (16U << 20) /* visited for one unit, or one address */

/* A range of addresses and its DIE. */
struct range {
	uint64_t low, high; /* [low, high) */
	size_t unit;
	Dwarf_Die die; /* of a function */
};

struct ranges {
	struct range *rows;
	size_t n, cap;
};

struct unit {
	Dwarf_Die die;  /* has the line table */
	Dwarf_Die tree; /* has the functions; another DIE in split DWARF */
	struct ranges functions;
	bool indexed;
};

struct lines {
	int fd;
	Dwarf *dwarf;
	struct unit *units;
	size_t n_units, cap_units;
	struct ranges ranges; /* of the units */
	struct strings *strings;
};

static int read_units(struct lines *l);

int lines_open(struct lines **ret, int fd)
{
	_cleanup_(lines_freep) struct lines *l = NULL;
	int r;

	if (fd < 0)
		return -ENODATA;
	l = calloc(1, sizeof(*l));
	if (!l) {
		close(fd);
		return -ENOMEM;
	}
	l->fd = fd;
	r = strings_new(&l->strings);
	if (r < 0)
		return r;
	l->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!l->dwarf)
		return -ENODATA;
	r = read_units(l);
	if (r < 0)
		return r;
	if (!l->n_units)
		return -ENODATA;
	*ret = TAKE_PTR(l);
	return 0;
}

struct lines *lines_free(struct lines *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_units; i++)
		free(l->units[i].functions.rows);
	free(l->units);
	free(l->ranges.rows);
	dwarf_end(l->dwarf);
	strings_free(l->strings);
	close(l->fd);
	free(l);
	return NULL;
}

/* Adds the ranges that @die covers. */
static int add_ranges(struct ranges *ranges, Dwarf_Die *die, size_t unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		int r;

		if (low >= high)
			continue;
		r = ARRAY_RESERVE(&ranges->rows, &ranges->cap, ranges->n + 1);
		if (r < 0)
			return r;
		ranges->rows[ranges->n++] = (struct range){
			.low = low,
			.high = high,
			.unit = unit,
			.die = *die,
		};
	}
	return 0;
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(COMPARE(a->low, b->low));
	return COMPARE(b->high, a->high);
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->rows, ranges->n, sizeof(*ranges->rows), compare_ranges);
}

/* Ranges from compilers do not overlap. Where they do, a nearby one is found. */
static struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, n = ranges->n;

	while (n > 1) {
		size_t half = n / 2;

		low = ranges->rows[low + half].low <= address ? low + half : low;
		n -= half;
	}
	for (size_t back = 0; n && back < 8 && back <= low; back++) {
		struct range *range = &ranges->rows[low - back];

		if (address >= range->low && address < range->high)
			return range;
	}
	return NULL;
}

static int read_units(struct lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (!dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, &split)) {
		int r;

		if (dwarf_tag(&die) != DW_TAG_compile_unit &&
		    dwarf_tag(&die) != DW_TAG_skeleton_unit)
			continue;
		r = ARRAY_RESERVE(&l->units, &l->cap_units, l->n_units + 1);
		if (!r)
			r = add_ranges(&l->ranges, &die, l->n_units);
		if (r < 0)
			return r;
		l->units[l->n_units++] = (struct unit){
			.die = die,
			.tree = type == DW_UT_skeleton && split.cu ? split : die,
		};
	}
	sort_ranges(&l->ranges);
	return 0;
}

/* Adds all functions at any level of @first and its siblings. */
static int add_functions(struct ranges *functions, Dwarf_Die *first, int depth, size_t *n_dies)
{
	Dwarf_Die die = *first, child;

	do {
		int r = 0;

		if (dwarf_tag(&die) == DW_TAG_subprogram)
			r = add_ranges(functions, &die, 0);
		if (!r && depth < MAX_DEPTH && !dwarf_child(&die, &child))
			r = add_functions(functions, &child, depth + 1, n_dies);
		if (r < 0)
			return r;
	} while (++*n_dies < MAX_DIES && !dwarf_siblingof(&die, &die));
	return 0;
}

static int index_unit(struct unit *unit)
{
	Dwarf_Die child;
	size_t n_dies = 0;
	int r = 0;

	if (unit->indexed)
		return 0;
	unit->indexed = true;
	if (!dwarf_child(&unit->tree, &child))
		r = add_functions(&unit->functions, &child, 0, &n_dies);
	sort_ranges(&unit->functions);
	return r;
}

/* True and *@ret: the child of @die that contains @address, a block or an inlined call. */
static bool find_inner(Dwarf_Die *die, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die child;
	size_t n_dies = 0;

	if (dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine)
			continue;
		if (dwarf_haspc(&child, address) > 0) {
			*ret = child;
			return true;
		}
	} while (++n_dies < MAX_DIES && !dwarf_siblingof(&child, &child));
	return false;
}

/* The function and the inlined calls that contain @address, outermost first. */
static size_t find_calls(struct unit *unit, uint64_t address, Dwarf_Die calls[static MAX_DEPTH])
{
	const struct range *function = find_range(&unit->functions, address);
	Dwarf_Die die, inner;
	size_t n = 0;

	if (!function)
		return 0;
	die = function->die;
	calls[n++] = die;
	for (int depth = 0; depth < MAX_DEPTH && find_inner(&die, address, &inner); depth++) {
		if (dwarf_tag(&inner) == DW_TAG_inlined_subroutine && n < MAX_DEPTH)
			calls[n++] = inner;
		die = inner;
	}
	return n;
}

/* *@ret is the pool's copy of the demangled @text, or NULL if @text is NULL. */
static int intern_name(struct lines *l, const char *text, const char **ret)
{
	_cleanup_free_ char *name = NULL;
	int r;

	*ret = NULL;
	if (!text)
		return 0;
	r = demangle(&name, text, SIZE_MAX, "");
	if (r < 0)
		return r;
	*ret = strings_intern(l->strings, name);
	return *ret ? 0 : -ENOMEM;
}

static int name_function(struct lines *l, Dwarf_Die *die, const char **ret)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return intern_name(l, name ?: dwarf_diename(die), ret);
}

/* Compilers record the path from their command line, and their working directory separately. */
static int intern_file(struct lines *l, struct unit *unit, const char *file, const char **ret)
{
	_cleanup_free_ char *path = NULL;
	Dwarf_Attribute attribute;
	const char *folder;

	folder = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	if (!file || *file == '/' || !folder)
		return intern_name(l, file, ret);
	if (asprintf(&path, "%s/%s", folder, file) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return intern_name(l, path, ret);
}

/* The position of @address in the line table. */
static int find_position(struct lines *l, struct unit *unit, uint64_t address,
			 struct source_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number = 0, r;

	if (!line)
		return 0;
	r = intern_file(l, unit, dwarf_linesrc(line, NULL, NULL), &ret->file);
	if (!dwarf_lineno(line, &number) && number > 0)
		ret->line = (uint32_t)number;
	return r;
}

/* The position of the inlined call @die. */
static int find_call_site(struct lines *l, struct unit *unit, Dwarf_Die *die,
			  struct source_frame *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    line > INT32_MAX)
		line = 0;
	ret->line = (uint32_t)line;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_getsrcfiles(&unit->tree, &files, &n) || file >= n)
		return 0;
	return intern_file(l, unit, dwarf_filesrc(files, file, NULL, NULL), &ret->file);
}

/* The function at an address and the calls inlined there, the outermost first. */
struct calls {
	Dwarf_Die dies[MAX_DEPTH];
	size_t n;
};

/* The innermost frame is at @position, each outer one at the call of the frame inside it. */
static int fill_frames(struct lines *l, struct unit *unit, struct calls *calls,
		       struct source_frame position, struct source_frame *ret, size_t n)
{
	size_t n_calls = calls->n, i = 0;

	while (n_calls-- > 0 && i < n) {
		int r = name_function(l, &calls->dies[n_calls], &position.function);

		if (r < 0)
			return r;
		ret[i++] = position;
		position = (struct source_frame){ 0 };
		r = n_calls ? find_call_site(l, unit, &calls->dies[n_calls], &position) : 0;
		if (r < 0)
			return r;
	}
	return (int)i;
}

int lines_find(struct lines *l, uint64_t address, const char *function, struct source_frame *ret,
	       size_t n)
{
	const struct range *range = find_range(&l->ranges, address);
	struct source_frame position = { 0 };
	struct calls calls;
	struct unit *unit;
	int r;

	if (!range || !n)
		return 0;
	unit = &l->units[range->unit];
	r = index_unit(unit);
	if (!r)
		r = find_position(l, unit, address, &position);
	if (r < 0)
		return r;
	calls.n = find_calls(unit, address, calls.dies);
	if (!calls.n && !position.file)
		return 0;
	if (!calls.n) {
		ret[0] = position;
		calls.n = 1;
		r = 1;
	} else {
		r = fill_frames(l, unit, &calls, position, ret, n);
	}
	if (r > 0 && (size_t)r == calls.n && function &&
	    intern_name(l, function, &ret[calls.n - 1].function) < 0)
		return -ENOMEM;
	return r;
}
