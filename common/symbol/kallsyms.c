/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines are `ADDRESS TYPE NAME` or `ADDRESS TYPE NAME\t[MODULE]`; there are no sizes, so a function
 * ends where the next symbol, of whatever type, of the kernel or of that module begins.
 *
 * The kernel's reference is _text, or _stext if the object's base is the address of that. Where a
 * module was loaded the file does not say: it is taken to be the page of its lowest function.
 *
 * /proc/kallsyms speaks of the running kernel alone. Whether an object is of that one its build-id
 * tells (/sys/kernel/notes, and /sys/module/NAME/notes for modules). Of a kernel without one its
 * address must do, which is another one at each boot: the limit is kernels that are not randomized,
 * which are all at the same. A module without one gets symbols only from a file that the user
 * names.
 */
#include "common/symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbol/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define PROC_KALLSYMS "/proc/kallsyms"
#define MAX_BYTES     (256UL << 20)
#define PAGE          4096UL
#define HINT          "; --kallsyms FILE takes a copy of the other's " PROC_KALLSYMS

struct branch_record {
	uint64_t address;
	const char *name;
	const char *module; /* with its brackets; NULL of the kernel itself */
	char type;
};

struct kallsyms {
	char *path; /* NULL for that of the running kernel */
	int fd;     /* or the negative errno of opening it */
	struct build_id running;

	char *text; /* what rows borrow from; NULL until it is read */
	struct branch_record *rows;
	size_t n_rows, cap_rows;
};

int kallsyms_new(struct kallsyms **ret, const char *path)
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
	k->fd = open(path ?: PROC_KALLSYMS, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (k->fd < 0)
		k->fd = -errno;
	*ret = TAKE_PTR(k);
	return 0;
}

void kallsyms_forget(struct kallsyms *k)
{
	free(k->rows);
	free(k->text);
	k->rows = NULL;
	k->text = NULL;
	k->n_rows = k->cap_rows = 0;
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

/* The whole of a file that does not know its size, ended by a zero byte. */
static int read_text(int fd, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0, cap = 0;
	ssize_t more;
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	do {
		r = array_reserve_raw(&text, &cap, n + (1UL << 20), 1);
		if (r < 0)
			return r;
		more = read(fd, text + n, cap - n - 1);
		if (more < 0)
			return -errno;
		n += (size_t)more;
	} while (more && n < MAX_BYTES);
	text[n] = 0;
	*ret = TAKE_PTR(text);
	return 0;
}

/* Cuts one line into its parts; false where it has another shape. */
static bool parse_line(char *line, struct branch_record *ret)
{
	struct branch_record row = { .name = NULL };
	char *end, *module;

	row.address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	row.type = end[1];
	row.name = end + 3;
	module = end + 3 + strcspn(end + 3, " \t");
	if (*module) {
		*module++ = 0;
		module += strspn(module, " \t");
		row.module = *module == '[' ? module : NULL;
	}
	*ret = row;
	return true;
}

static int parse_text(struct kallsyms *k)
{
	char *rest = k->text, *line;

	while ((line = strsep(&rest, "\n"))) {
		struct branch_record row;
		int r;

		if (!parse_line(line, &row))
			continue;
		r = ARRAY_RESERVE(&k->rows, &k->cap_rows, k->n_rows + 1);
		if (r < 0)
			return r;
		k->rows[k->n_rows++] = row;
	}
	return 0;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct branch_record *a = pa, *b = pb;

	return COMPARE(a->address, b->address);
}

static bool is_code(const struct branch_record *row)
{
	return row->type == 't' || row->type == 'T' || row->type == 'w' || row->type == 'W';
}

static int check_rows(const struct kallsyms *k, struct fault *why)
{
	size_t n_code = 0;

	for (size_t i = 0; i < k->n_rows; i++) {
		n_code += is_code(&k->rows[i]);
		if (is_code(&k->rows[i]) && k->rows[i].address)
			return 0;
	}
	if (!n_code)
		return fault_set(why, -ENODATA, "%s has no functions", k->path ?: PROC_KALLSYMS);
	return fault_set(why, -EPERM,
			 "kernel symbols are hidden: all addresses in %s are zero, see "
			 "/proc/sys/kernel/kptr_restrict",
			 k->path ?: PROC_KALLSYMS);
}

static int load(struct kallsyms *k, struct fault *why)
{
	int r;

	if (k->fd < 0)
		return fault_set(why, k->fd, "%s: %s", k->path ?: PROC_KALLSYMS, strerror(-k->fd));
	kallsyms_forget(k);
	r = read_text(k->fd, &k->text);
	if (!r)
		r = parse_text(k);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fault_set(why, r, "%s: %s", k->path ?: PROC_KALLSYMS, strerror(-r));
	if (k->n_rows)
		qsort(k->rows, k->n_rows, sizeof(*k->rows), compare_rows);
	return check_rows(k, why);
}

/* /proc/kallsyms is for what runs here and now. */
static int check_kernel(const struct kallsyms *k, const struct profile_object *object,
			struct fault *why)
{
	struct build_id running = k->running;
	_cleanup_free_ char *path = NULL;

	if (k->path)
		return 0;
	if (!object->n_build_id && object->kind == OBJECT_KERNEL && object->base)
		return 0; /* check_address() will tell */
	if (!object->n_build_id)
		return fault_set(why, -ENOENT,
				 "its build-id is not known, so it cannot be told whether it is of "
				 "the kernel that runs here" HINT);
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
	return fault_set(why, -ESTALE, "it is not the one that runs here" HINT);
}

static int check_address(const struct kallsyms *k, const struct profile_object *object,
			 uint64_t reference, struct fault *why)
{
	if (k->path || object->n_build_id || reference == object->base)
		return 0;
	return fault_set(
		why, -ESTALE,
		"it has no build-id, and another address than the one that runs here" HINT);
}

static bool is_of(const struct branch_record *row, const char *module)
{
	if (!module || !row->module)
		return !module && !row->module;
	return !strcmp(row->module, module);
}

/* What offset 0 of the object is in this file. */
static bool find_reference(const struct kallsyms *k, const struct profile_object *object,
			   const char *module, uint64_t *ret)
{
	const struct branch_record *text = NULL, *stext = NULL;

	for (size_t i = 0; i < k->n_rows; i++) {
		const struct branch_record *row = &k->rows[i];

		if (!is_of(row, module))
			continue;
		if (module && is_code(row)) {
			*ret = row->address & ~(PAGE - 1);
			return true;
		}
		if (!strcmp(row->name, "_text"))
			text = row;
		if (!strcmp(row->name, "_stext"))
			stext = row;
	}
	if (module || (!text && !stext))
		return false;
	if (!text || (stext && object->base == stext->address))
		text = stext;
	*ret = text->address;
	return true;
}

/* The copies of names and the table being made from @k's rows. */
struct maker {
	struct symbol_table *table;
	const char *module;
	uint64_t reference;
	char *names;
	size_t n_names;
};

static int add_row(struct maker *maker, const struct branch_record *row, uint64_t end)
{
	size_t n = strlen(row->name) + 1;
	char *name = maker->names + maker->n_names;

	memcpy(name, row->name, n);
	maker->n_names += n;
	return symbol_table_add(maker->table, &(struct symbol_entry){
						      .start = row->address - maker->reference,
						      .limit = end - maker->reference ?: UINT64_MAX,
						      .name = name,
						      .binding = row->type == 'T' ? SYMBOL_GLOBAL :
								 row->type == 't' ? SYMBOL_LOCAL :
										    SYMBOL_WEAK,
					      });
}

/* From the last to the first, so that the end of each is known. */
static int add_rows(struct maker *maker, const struct kallsyms *k)
{
	uint64_t end = 0, start = UINT64_MAX;
	int r = 0;

	for (size_t i = k->n_rows; i-- > 0 && !r;) {
		const struct branch_record *row = &k->rows[i];

		if (!is_of(row, maker->module))
			continue;
		if (start == UINT64_MAX)
			end = (row->address | (PAGE - 1)) + 1;
		else if (row->address != start)
			end = start;
		start = row->address;
		if (is_code(row) && row->address)
			r = add_row(maker, row, end);
	}
	return r;
}

static int make_table(const struct kallsyms *k, const char *module, uint64_t reference,
		      struct symbol_table **ret)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = NULL;
	struct maker maker = { .module = module, .reference = reference };
	size_t n = 1;
	int r;

	for (size_t i = 0; i < k->n_rows; i++)
		if (is_of(&k->rows[i], module))
			n += strlen(k->rows[i].name) + 1;
	r = symbol_table_new(&table);
	if (r < 0)
		return r;
	maker.table = table;
	maker.names = malloc(n);
	if (!maker.names)
		return -ENOMEM;
	r = symbol_table_take_names(table, maker.names, n);
	if (!r)
		r = add_rows(&maker, k);
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
	bool fresh = !k->n_rows;
	uint64_t reference;
	int r;

	r = check_kernel(k, object, why);
	if (!r && fresh)
		r = load(k, why);
	if (r < 0)
		return r;
	/* a module may have been loaded since */
	if (!find_reference(k, object, module, &reference)) {
		r = fresh ? 0 : load(k, why);
		if (r < 0)
			return r;
		if (fresh || !find_reference(k, object, module, &reference))
			return fault_set(why, -ENOENT, "%s has no symbols of it",
					 k->path ?: PROC_KALLSYMS);
	}
	r = check_address(k, object, reference, why);
	return r < 0 ? r : make_table(k, module, reference, ret);
}
