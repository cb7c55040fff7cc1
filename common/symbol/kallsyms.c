/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines are `ADDRESS TYPE NAME` or `ADDRESS TYPE NAME\t[MODULE]`. They have no sizes, so a function
 * ends at the next symbol, of any type, of the kernel or of the same module.
 *
 * Offset 0 of the kernel is _text, or _stext if that is the base of the object. The file has no
 * load addresses of modules: the page of the lowest function is taken.
 *
 * /proc/kallsyms is about the running kernel only. The build-id of an object says
 * whether it belongs to it (/sys/kernel/notes, /sys/module/NAME/notes). A kernel without a build-id
 * is identified by its address, which changes at each boot; the limit is kernels that are not
 * randomized, which all have the same address. A module without a build-id gets symbols only from a
 * file that the user names.
 */
#include "common/symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/object/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/sort.h"

#define PROC_KALLSYMS "/proc/kallsyms"
#define MAX_BYTES     (256UL << 20)
#define BUFFER        (64UL << 10)
#define PAGE          4096UL
#define HINT          "; pass a copy of that kernel's " PROC_KALLSYMS " with --kallsyms FILE"

/* A place in kallsyms.text, because that moves while it grows; 0: none. */
struct kernel_symbol {
	uint64_t address;
	uint32_t name;   /* only of code, and of what find_reference() seeks */
	uint32_t module; /* with its brackets; none: the kernel itself */
	char type;
};

struct kallsyms {
	char *path;           /* NULL: /proc/kallsyms */
	kallsyms_opener open; /* instead of fd, or NULL */
	void *userdata;
	int fd; /* or the negative errno of open() */
	struct build_id running;

	char *text; /* names, after a zero byte; NULL until they are read */
	size_t n_text, cap_text;
	struct kernel_symbol *symbols;
	size_t n_symbols, cap_symbols;
};

int kallsyms_new(struct kallsyms **ret, const char *path, kallsyms_opener opener, void *userdata)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->fd = -EBADF;
	if (path) {
		k->path = strdup(path);
		if (!k->path)
			return -ENOMEM;
	} else {
		build_id_from_notes_file("/sys/kernel/notes", &k->running);
	}
	if (!path && opener) {
		k->open = opener;
		k->userdata = userdata;
	} else {
		k->fd = open(path ?: PROC_KALLSYMS, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (k->fd < 0)
			k->fd = -errno;
	}
	*ret = TAKE_PTR(k);
	return 0;
}

void kallsyms_forget(struct kallsyms *k)
{
	free(k->symbols);
	free(k->text);
	k->symbols = NULL;
	k->text = NULL;
	k->n_symbols = k->cap_symbols = 0;
	k->n_text = k->cap_text = 0;
}

struct kallsyms *kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return NULL;
	kallsyms_forget(k);
	if (k->fd >= 0)
		close(k->fd);
	free(k->path);
	free(k);
	return NULL;
}

/* A line in its parts, borrowed from it. */
struct line {
	uint64_t address;
	char type;
	const char *name, *module; /* NULL: the kernel itself */
};

/* False if it has another form. */
static bool parse_line(char *line, struct line *ret)
{
	struct line parts = {};
	char *end, *module;

	parts.address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	parts.type = end[1];
	parts.name = end + 3;
	module = end + 3 + strcspn(end + 3, " \t");
	if (*module) {
		*module++ = '\0';
		module += strspn(module, " \t");
		parts.module = *module == '[' ? module : NULL;
	}
	*ret = parts;
	return true;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static bool is_start(const char *name)
{
	return !strcmp(name, "_text") || !strcmp(name, "_stext");
}

/* Its place in the text, or -ENOMEM. */
static int64_t add_text(struct kallsyms *k, const char *s)
{
	size_t n = strlen(s) + 1, at = k->n_text;

	if (at + n > UINT32_MAX || ARRAY_RESERVE(&k->text, &k->cap_text, at + n) < 0)
		return -ENOMEM;
	memcpy(k->text + at, s, n);
	k->n_text += n;
	return (int64_t)at;
}

/* The symbols of a module follow each other, so its name is mostly that of the one before. */
static int64_t add_module(struct kallsyms *k, const char *module)
{
	uint32_t last = k->n_symbols ? k->symbols[k->n_symbols - 1].module : 0;

	if (!module)
		return 0;
	return last && !strcmp(k->text + last, module) ? last : add_text(k, module);
}

static int add_line(struct kallsyms *k, const struct line *line)
{
	bool named = is_code(line->type) || is_start(line->name);
	int64_t module = add_module(k, line->module);
	int64_t name = named && module >= 0 ? add_text(k, line->name) : MIN(module, 0);

	if (name < 0 || ARRAY_RESERVE(&k->symbols, &k->cap_symbols, k->n_symbols + 1) < 0)
		return -ENOMEM;
	k->symbols[k->n_symbols++] = (struct kernel_symbol){
		.address = line->address,
		.name = (uint32_t)name,
		.module = (uint32_t)module,
		.type = line->type,
	};
	return 0;
}

/* Adds the whole lines of @n bytes, and moves the rest to the front: *@ret_rest bytes. */
static int add_lines(struct kallsyms *k, char *bytes, size_t n, size_t *ret_rest)
{
	char *rest = bytes, *end;
	int r = 0;

	while (!r && (end = memchr(rest, '\n', n - (size_t)(rest - bytes)))) {
		struct line line;

		*end = '\0';
		if (parse_line(rest, &line))
			r = add_line(k, &line);
		rest = end + 1;
	}
	*ret_rest = n - (size_t)(rest - bytes);
	memmove(bytes, rest, *ret_rest);
	return r;
}

/* Piece by piece: the file is several times as large as what is kept of it. */
static int read_file(struct kallsyms *k, int fd)
{
	_cleanup_free_ char *buffer = malloc(BUFFER);
	size_t n = 0, n_bytes = 0;
	ssize_t more = 1;
	int r = !buffer || add_text(k, "") < 0 ? -ENOMEM : 0;

	if (!r && lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while (!r && more > 0 && n_bytes < MAX_BYTES) {
		n = n < BUFFER - 1 ? n : 0; /* no line is that long */
		more = read(fd, buffer + n, BUFFER - 1 - n);
		if (more < 0)
			return -errno;
		n_bytes += (size_t)more;
		n += (size_t)more;
		if (!more && n)
			buffer[n++] = '\n'; /* the last line may lack it */
		r = add_lines(k, buffer, n, &n);
	}
	return r;
}

static int compare_symbols(const void *pa, const void *pb)
{
	const struct kernel_symbol *a = pa, *b = pb;

	return COMPARE(a->address, b->address);
}

static int check_symbols(const struct kallsyms *k, struct fault *why)
{
	size_t n_code = 0;

	for (size_t i = 0; i < k->n_symbols; i++) {
		n_code += is_code(k->symbols[i].type);
		if (is_code(k->symbols[i].type) && k->symbols[i].address)
			return 0;
	}
	if (!n_code)
		return fault_set(why, -ENODATA, "%s has no functions", k->path ?: PROC_KALLSYMS);
	return fault_set(why, -EPERM,
			 "kernel symbols are hidden: all addresses in %s are zero; see "
			 "/proc/sys/kernel/kptr_restrict",
			 k->path ?: PROC_KALLSYMS);
}

static int load(struct kallsyms *k, struct fault *why)
{
	_cleanup_close_ int opened = k->open ? k->open(k->userdata) : -1;
	int fd = k->open ? opened : k->fd, r;

	if (fd < 0)
		return fault_set(why, fd, "%s: %s", k->path ?: PROC_KALLSYMS, strerror(-fd));
	kallsyms_forget(k);
	r = read_file(k, fd);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fault_set(why, r, "%s: %s", k->path ?: PROC_KALLSYMS, strerror(-r));
	if (k->n_symbols)
		sort_nearly(k->symbols, k->n_symbols, sizeof(*k->symbols), compare_symbols);
	return check_symbols(k, why);
}

/* /proc/kallsyms serves objects of the running kernel only. */
static int check_kernel(const struct kallsyms *k, const struct profile_object *object,
			struct fault *why)
{
	struct build_id running = k->running;
	_cleanup_free_ char *path = NULL;

	if (k->path)
		return 0;
	if (!object->n_build_id && object->kind == OBJECT_KERNEL && object->base)
		return 0; /* check_address() compares the address */
	if (!object->n_build_id)
		return fault_set(
			why, -ENOENT,
			"unknown build-id, so it may not belong to the running kernel" HINT);
	if (object->kind == OBJECT_MODULE) {
		size_t n = strlen(object->path);

		running.n = 0;
		if (n < 3 || object->path[1] == '.' || strchr(object->path, '/'))
			return fault_set(why, -ENOENT, "not found");
		if (asprintf(&path, "/sys/module/%.*s/notes/.note.gnu.build-id", (int)n - 2,
			     object->path + 1) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		build_id_from_notes_file(path, &running);
	}
	if (build_id_equal(&running, object->build_id, object->n_build_id))
		return 0;
	return fault_set(why, -ESTALE, "not the running kernel or module" HINT);
}

static int check_address(const struct kallsyms *k, const struct profile_object *object,
			 uint64_t reference, struct fault *why)
{
	if (k->path || object->n_build_id || reference == object->base)
		return 0;
	return fault_set(why, -ESTALE,
			 "no build-id, and not the address of the running kernel" HINT);
}

static bool is_of(const struct kallsyms *k, const struct kernel_symbol *symbol, const char *module)
{
	if (!module || !symbol->module)
		return !module && !symbol->module;
	return !strcmp(k->text + symbol->module, module);
}

/* The address in this file of the object's offset 0. */
static bool find_reference(const struct kallsyms *k, const struct profile_object *object,
			   const char *module, uint64_t *ret)
{
	const struct kernel_symbol *text = NULL, *stext = NULL;

	for (size_t i = 0; i < k->n_symbols; i++) {
		const struct kernel_symbol *symbol = &k->symbols[i];

		if (!is_of(k, symbol, module))
			continue;
		if (module && is_code(symbol->type)) {
			*ret = symbol->address & ~(PAGE - 1);
			return true;
		}
		if (!strcmp(k->text + symbol->name, "_text"))
			text = symbol;
		if (!strcmp(k->text + symbol->name, "_stext"))
			stext = symbol;
	}
	if (module || (!text && !stext))
		return false;
	if (!text || (stext && object->base == stext->address))
		text = stext;
	*ret = text->address;
	return true;
}

/* The table being made from @k's symbols. */
struct maker {
	struct symbol_table *table;
	const char *module;
	uint64_t reference;
};

static int add_symbol(struct maker *maker, const char *name, const struct kernel_symbol *symbol,
		      uint64_t end)
{
	return symbol_table_add(maker->table,
				&(struct symbol_entry){
					.start = symbol->address - maker->reference,
					.limit = end - maker->reference ?: UINT64_MAX,
					.name = name,
					.binding = symbol->type == 'T' ? SYMBOL_GLOBAL :
						   symbol->type == 't' ? SYMBOL_LOCAL :
									 SYMBOL_WEAK,
				});
}

/* Adds those from number @i to @last, which have one address, and end at @end. */
static int add_group(struct maker *maker, const struct kallsyms *k, size_t i, size_t last,
		     uint64_t end)
{
	int r = 0;

	for (; i <= last && !r; i++) {
		const struct kernel_symbol *symbol = &k->symbols[i];

		if (is_code(symbol->type) && symbol->address && is_of(k, symbol, maker->module))
			r = add_symbol(maker, k->text + symbol->name, symbol, end);
	}
	return r;
}

/* In their order, so that the table need not be sorted. */
static int add_symbols(struct maker *maker, const struct kallsyms *k)
{
	size_t first = SIZE_MAX, last = 0;
	int r = 0;

	for (size_t i = 0; i < k->n_symbols && !r; i++) {
		if (!is_of(k, &k->symbols[i], maker->module))
			continue;
		if (first == SIZE_MAX) {
			first = i;
		} else if (k->symbols[i].address != k->symbols[first].address) {
			r = add_group(maker, k, first, last, k->symbols[i].address);
			first = i;
		}
		last = i;
	}
	if (r < 0 || first == SIZE_MAX)
		return r;
	return add_group(maker, k, first, last, (k->symbols[last].address | (PAGE - 1)) + 1);
}

/* Packing copies the names. */
static int make_table(const struct kallsyms *k, const char *module, uint64_t reference,
		      struct symbol_table **ret)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = NULL;
	struct maker maker = { .module = module, .reference = reference };
	int r = symbol_table_new(&table);

	if (r < 0)
		return r;
	maker.table = table;
	r = add_symbols(&maker, k);
	if (!r)
		r = symbol_table_finalize(table);
	if (!r)
		r = symbol_table_pack(table);
	if (!r)
		*ret = TAKE_PTR(table);
	return r;
}

int kallsyms_read_object(struct kallsyms *k, const struct profile_object *object,
			 struct symbol_table **ret, struct fault *why)
{
	const char *module = object->kind == OBJECT_MODULE ? object->path : NULL;
	bool fresh = !k->n_symbols;
	uint64_t reference;
	int r;

	r = check_kernel(k, object, why);
	if (!r && fresh)
		r = load(k, why);
	if (r < 0)
		return r;
	/* a module may have been loaded since; also since a copy was made that was opened */
	if (!find_reference(k, object, module, &reference)) {
		fresh = fresh && !k->open;
		r = fresh ? 0 : load(k, why);
		if (r < 0)
			return r;
		if (fresh || !find_reference(k, object, module, &reference))
			return fault_set(why, -ENOENT, "%s has no symbols for it",
					 k->path ?: PROC_KALLSYMS);
	}
	r = check_address(k, object, reference, why);
	return r < 0 ? r : make_table(k, module, reference, ret);
}
