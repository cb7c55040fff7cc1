/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/kallsyms has the start and end of the kernel's text, and the start of each BPF program and
 * trampoline. Each is reported up to the start of the next one: that is too long, but no
 * code runs in between. Modules come last, in order of their addresses: the size in /proc/modules
 * counts more than follows the text, and the next module corrects the end.
 *
 * The file is long, and the kernel's start comes early in it. Where the end is kept from an earlier
 * start of branchd, the rest is read only once code is sampled that is neither of the kernel nor of
 * a module.
 */
#include "daemon/sampler/running-kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/object/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "daemon/sampler/kernel-extent.h"

#define MAX_FUNCTION (64u * 1024)
#define MAX_HEAD     16384 /* lines before the kernel's start: those of its data for each CPU */

/* A module, or a function that the kernel generated. */
struct place {
	uint64_t address, n_bytes;
	char name[64];
};

struct places {
	struct place *places;
	size_t n, cap;
};

struct kernel_text {
	uint64_t start, reference, end; /* 0 where hidden */
	struct places functions;
};

struct running_kernel {
	FILE *kallsyms, *modules_file; /* NULL: not available */
	const char *notes;
	struct places modules; /* reported, in order of their addresses */
	struct handover *copy; /* or NULL */
	int directory;         /* where the kernel's extent is kept, or -1 */
	bool reads_rest;       /* when generated functions are to be reported */
};

static FILE *open_stream(int fd, const char *mode)
{
	FILE *f = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

int running_kernel_new(struct running_kernel **ret, int kallsyms_fd, int modules_fd,
		       const char *notes)
{
	struct running_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel) {
		cleanup_close(&kallsyms_fd);
		cleanup_close(&modules_fd);
		return -ENOMEM;
	}
	kernel->notes = notes;
	kernel->directory = -1;
	kernel->kallsyms = open_stream(kallsyms_fd, "r");
	kernel->modules_file = open_stream(modules_fd, "r");
	*ret = kernel;
	return 0;
}

struct running_kernel *running_kernel_free(struct running_kernel *kernel)
{
	if (!kernel)
		return NULL;
	cleanup_fclose(&kernel->kallsyms);
	cleanup_fclose(&kernel->modules_file);
	free(kernel->modules.places);
	free(kernel);
	return NULL;
}

static int add_place(struct places *p, uint64_t address, uint64_t n_bytes, const char *name)
{
	struct place *place;

	if (ARRAY_RESERVE(&p->places, &p->cap, p->n + 1) < 0)
		return -ENOMEM;
	place = &p->places[p->n++];
	place->address = address;
	place->n_bytes = n_bytes;
	snprintf(place->name, sizeof(place->name), "%s", name);
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return COMPARE(x->address, y->address);
}

static void sort_places(struct places *p)
{
	if (p->n > 0)
		qsort(p->places, p->n, sizeof(*p->places), compare_places);
}

/* Whether the code was generated: "[bpf]", "[__builtin__ftrace]". */
static bool is_generated(const char *module)
{
	return strcmp(module, "[bpf]") == 0 || strncmp(module, "[__builtin__", 12) == 0;
}

/* "ffffffff81000000 T _text" or "... t name\t[module]". */
static int take_symbol(struct kernel_text *text, char *line)
{
	char *at = strchr(line, ' '), *name, *module;
	uint64_t address;

	if (!at || strlen(at) < sizeof(" T "))
		return 0;
	name = at + sizeof(" T ") - 1;
	module = strchr(name, '\t');
	if (!module && strncmp(name, "_text", 5) != 0 && strncmp(name, "_stext", 6) != 0 &&
	    strncmp(name, "_etext", 6) != 0)
		return 0; /* as most */
	address = strtoull(line, NULL, 16);
	if (address == 0)
		return 0;
	name[strcspn(name, "\n")] = '\0';
	if (module) {
		*module++ = '\0';
		return is_generated(module) ? add_place(&text->functions, address, 0, name) : 0;
	}
	if (strcmp(name, "_text") == 0)
		text->reference = address;
	else if (strcmp(name, "_stext") == 0)
		text->start = address;
	else if (strcmp(name, "_etext") == 0)
		text->end = address;
	return 0;
}

/* Reads until the kernel's start is known. */
static int read_head(struct kernel_text *text, FILE *f)
{
	_cleanup_free_ char *line = NULL;
	size_t n_line = 0;
	int r = 0;

	rewind(f);
	for (int i = 0; r >= 0 && i < MAX_HEAD && !(text->start && text->reference); i++)
		r = getline(&line, &n_line, f) > 0 ? take_symbol(text, line) : -ENODATA;
	return r == -ENOMEM ? r : 0;
}

static int read_kallsyms(struct kernel_text *text, FILE *f, FILE *copy)
{
	_cleanup_free_ char *line = NULL;
	size_t n_line = 0;
	ssize_t n;
	int r = 0;

	while (r >= 0 && (n = getline(&line, &n_line, f)) > 0) {
		if (copy)
			fwrite(line, 1, (size_t)n, copy);
		r = take_symbol(text, line);
	}
	return r;
}

static FILE *open_copy(void)
{
	return open_stream(memfd_create("kallsyms", MFD_CLOEXEC), "w");
}

/* If all of it was written. */
static void leave_copy(FILE *copy, struct handover *ret)
{
	int fd = fflush(copy) == 0 && !ferror(copy) ? fcntl(fileno(copy), F_DUPFD_CLOEXEC, 0) : -1;

	if (fd >= 0)
		handover_put(ret, fd);
}

static int read_and_copy(struct kernel_text *text, FILE *f, struct handover *ret_copy)
{
	FILE *copy = ret_copy ? open_copy() : NULL;
	int r;

	rewind(f);
	r = read_kallsyms(text, f, copy);
	if (copy && r >= 0)
		leave_copy(copy, ret_copy);
	cleanup_fclose(&copy);
	return r;
}

static uint64_t first_of(const struct kernel_text *text)
{
	return text->reference ? MIN(text->reference, text->start) : text->start;
}

static int report_kernel(const struct kernel_text *text, const struct build_id *id,
			 proc_scan_handler handler, void *userdata)
{
	uint64_t reference = text->reference ? text->reference : text->start;
	struct event e = {
		.kind = EVENT_MAPPING,
		.cpu = UINT32_MAX,
		.pid = -1,
		.mapping = {
			.address = first_of(text),
			.file_offset = reference,
			.path = "[kernel.kallsyms]",
			.executable = true,
			.kernel = true,
		},
	};

	if (text->start == 0 || text->end <= e.mapping.address)
		return 0;
	e.mapping.n_bytes = text->end - e.mapping.address;
	memcpy(e.mapping.build_id, id->bytes, sizeof(e.mapping.build_id));
	e.mapping.n_build_id = id->n;
	return handler(&e, userdata);
}

static int report_functions(struct places *functions, proc_scan_handler handler, void *userdata)
{
	struct event e = { .kind = EVENT_KSYMBOL, .cpu = UINT32_MAX, .pid = -1 };
	int r = 0;

	sort_places(functions);
	for (size_t i = 0; i < functions->n && r >= 0; i++) {
		const struct place *f = &functions->places[i];
		uint64_t n = i + 1 < functions->n ? f[1].address - f->address : MAX_FUNCTION;

		e.ksymbol.address = f->address;
		e.ksymbol.n_bytes = (uint32_t)MIN(n, (uint64_t)MAX_FUNCTION);
		e.ksymbol.name = f->name;
		r = handler(&e, userdata);
	}
	return r;
}

static int report_module(const struct place *module, proc_scan_handler handler, void *userdata)
{
	char name[sizeof(module->name) + 2], path[128];
	struct event e = {
		.kind = EVENT_MAPPING,
		.cpu = UINT32_MAX,
		.pid = -1,
		.mapping = {
			.address = module->address,
			.n_bytes = module->n_bytes,
			.path = name,
			.executable = true,
			.kernel = true,
		},
	};
	struct build_id id = { 0 };

	snprintf(name, sizeof(name), "[%s]", module->name);
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module->name);
	if (build_id_from_notes_file(path, &id)) {
		memcpy(e.mapping.build_id, id.bytes, sizeof(e.mapping.build_id));
		e.mapping.n_build_id = id.n;
	}
	return handler(&e, userdata);
}

/* "ext4 1003520 1 - Live 0xffffffffc0a5d000" */
static int read_modules(struct places *modules, FILE *f)
{
	_cleanup_free_ char *line = NULL;
	unsigned long long n_bytes, address;
	size_t n_line = 0;
	char name[64];
	int r = 0;

	while (r >= 0 && getline(&line, &n_line, f) > 0)
		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &n_bytes, &address) == 3 &&
		    address != 0)
			r = add_place(modules, address, n_bytes, name);
	return r;
}

static bool is_reported(const struct places *modules, const struct place *module)
{
	const struct place *found = modules->n == 0 ?
					    NULL :
					    bsearch(module, modules->places, modules->n,
						    sizeof(*modules->places), compare_places);

	return found && found->n_bytes == module->n_bytes && strcmp(found->name, module->name) == 0;
}

int running_kernel_read_modules(struct running_kernel *kernel, FILE *proc_modules,
				proc_scan_handler handler, void *userdata)
{
	struct places modules = { 0 };
	int r = read_modules(&modules, proc_modules);
	bool any = false;

	sort_places(&modules);
	for (size_t i = 0; i < modules.n && r >= 0; i++) {
		any = any || !is_reported(&kernel->modules, &modules.places[i]);
		if (any) /* the reported size of a new module may cover those after it */
			r = report_module(&modules.places[i], handler, userdata);
	}
	free(kernel->modules.places);
	kernel->modules = modules;
	return r < 0 ? r : 0;
}

int running_kernel_report_modules(struct running_kernel *kernel, proc_scan_handler handler,
				  void *userdata)
{
	if (!kernel->modules_file)
		return 0;
	rewind(kernel->modules_file);
	return running_kernel_read_modules(kernel, kernel->modules_file, handler, userdata);
}

void running_kernel_keep(struct running_kernel *kernel, struct handover *copy, int directory)
{
	kernel->copy = copy;
	kernel->directory = directory;
}

/* Whether the kernel's text is known by its start, and the extent that was kept. */
static bool find_kept(const struct running_kernel *kernel, const struct build_id *id,
		      struct kernel_text *text)
{
	uint64_t n_bytes;

	if (text->start == 0 || text->reference == 0 ||
	    !kernel_extent_read(kernel->directory, id, &n_bytes))
		return false;
	text->end = first_of(text) + n_bytes;
	return true;
}

static int report_all(struct running_kernel *kernel, const struct build_id *id,
		      proc_scan_handler handler, void *userdata)
{
	struct kernel_text text = { 0 };
	int r = read_and_copy(&text, kernel->kallsyms, kernel->copy);

	if (r >= 0)
		r = report_kernel(&text, id, handler, userdata);
	if (r >= 0)
		r = report_functions(&text.functions, handler, userdata);
	if (r >= 0 && text.reference && text.end > first_of(&text))
		kernel_extent_write(kernel->directory, id, text.end - first_of(&text));
	free(text.functions.places);
	return r;
}

int running_kernel_report(struct running_kernel *kernel, proc_scan_handler handler, void *userdata)
{
	struct kernel_text head = { 0 };
	struct build_id id = { 0 };
	int r = 0;

	build_id_from_notes_file(kernel->notes, &id);
	if (kernel->kallsyms)
		r = read_head(&head, kernel->kallsyms);
	kernel->reads_rest = r >= 0 && find_kept(kernel, &id, &head);
	if (kernel->reads_rest)
		r = report_kernel(&head, &id, handler, userdata);
	else if (r >= 0 && kernel->kallsyms)
		r = report_all(kernel, &id, handler, userdata);
	if (r >= 0)
		r = running_kernel_report_modules(kernel, handler, userdata);
	free(head.functions.places);
	return r < 0 ? r : 0;
}

int running_kernel_report_generated(struct running_kernel *kernel, proc_scan_handler handler,
				    void *userdata)
{
	struct kernel_text text = { 0 };
	int r;

	if (!kernel->reads_rest)
		return 0;
	kernel->reads_rest = false;
	r = read_and_copy(&text, kernel->kallsyms, NULL);
	if (r >= 0)
		r = report_functions(&text.functions, handler, userdata);
	free(text.functions.places);
	kernel->modules.n = 0; /* all of them: functions may have been put over any */
	return r < 0 ? r : running_kernel_report_modules(kernel, handler, userdata);
}
