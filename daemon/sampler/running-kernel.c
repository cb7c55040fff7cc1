/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/kallsyms says where the kernel's text begins and ends, and where each BPF program and
 * trampoline begins; one of those ends where the next begins, which is more than its length, but
 * nothing runs in between. Modules are told last and in order of their addresses, for what their
 * sizes in /proc/modules count is not all behind their text.
 */
#include "daemon/sampler/running-kernel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbol/build-id.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define MAX_FUNCTION (64u * 1024)

/* Something at an address, with a name: a module, or a function that the kernel made at run time.
 */
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
	struct places modules; /* told of, in order of their addresses */
};

int running_kernel_new(struct running_kernel **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct running_kernel *running_kernel_free(struct running_kernel *kernel)
{
	if (!kernel)
		return NULL;
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

	return x->address < y->address ? -1 : x->address > y->address;
}

static void sort_places(struct places *p)
{
	if (p->n > 0)
		qsort(p->places, p->n, sizeof(*p->places), compare_places);
}

/* Is it code that was made at run time: "[bpf]", "[__builtin__ftrace]"? */
static bool is_made(const char *module)
{
	return strcmp(module, "[bpf]") == 0 || strncmp(module, "[__builtin__", 12) == 0;
}

/* "ffffffff81000000 T _text" or "... t name\t[module]". */
static int take_symbol(struct kernel_text *text, char *line)
{
	char *at, *name, *module;
	uint64_t address;

	address = strtoull(line, &at, 16);
	if (address == 0 || strlen(at) < sizeof(" T "))
		return 0;
	name = at + sizeof(" T ") - 1;
	name[strcspn(name, "\n")] = '\0';
	module = strchr(name, '\t');
	if (module) {
		*module++ = '\0';
		return is_made(module) ? add_place(&text->functions, address, 0, name) : 0;
	}
	if (name[0] != '_')
		return 0;
	if (strcmp(name, "_text") == 0)
		text->reference = address;
	else if (strcmp(name, "_stext") == 0)
		text->start = address;
	else if (strcmp(name, "_etext") == 0)
		text->end = address;
	return 0;
}

static int read_kallsyms(struct kernel_text *text)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/kallsyms", "re");
	_cleanup_free_ char *line = NULL;
	size_t n_line = 0;
	int r = 0;

	while (f && r >= 0 && getline(&line, &n_line, f) > 0)
		r = take_symbol(text, line);
	return r;
}

static int tell_kernel(const struct kernel_text *text, proc_scan_handler handler, void *userdata)
{
	uint64_t reference = text->reference ? text->reference : text->start;
	struct event e = {
		.kind = EVENT_MAPPING,
		.cpu = UINT32_MAX,
		.pid = -1,
		.mapping = {
			.address = text->reference ? MIN(text->reference, text->start) : text->start,
			.file_offset = reference,
			.path = "[kernel.kallsyms]",
			.executable = true,
			.kernel = true,
		},
	};
	struct build_id id = { 0 };

	if (text->start == 0 || text->end <= e.mapping.address)
		return 0;
	e.mapping.n_bytes = text->end - e.mapping.address;
	if (build_id_from_notes_file("/sys/kernel/notes", &id)) {
		memcpy(e.mapping.build_id, id.bytes, sizeof(e.mapping.build_id));
		e.mapping.n_build_id = id.n;
	}
	return handler(&e, userdata);
}

static int tell_functions(struct places *functions, proc_scan_handler handler, void *userdata)
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

static int tell_module(const struct place *module, proc_scan_handler handler, void *userdata)
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

static bool is_known(const struct places *modules, const struct place *module)
{
	const struct place *known = modules->n == 0 ?
					    NULL :
					    bsearch(module, modules->places, modules->n,
						    sizeof(*modules->places), compare_places);

	return known && known->n_bytes == module->n_bytes && strcmp(known->name, module->name) == 0;
}

int running_kernel_read_modules(struct running_kernel *kernel, FILE *proc_modules,
				proc_scan_handler handler, void *userdata)
{
	struct places modules = { 0 };
	int r = read_modules(&modules, proc_modules);
	bool tells = false;

	sort_places(&modules);
	for (size_t i = 0; i < modules.n && r >= 0; i++) {
		tells = tells || !is_known(&kernel->modules, &modules.places[i]);
		if (tells) /* also what is behind a new one: its size may say that it reaches there
			    */
			r = tell_module(&modules.places[i], handler, userdata);
	}
	free(kernel->modules.places);
	kernel->modules = modules;
	return r < 0 ? r : 0;
}

int running_kernel_report_modules(struct running_kernel *kernel, proc_scan_handler handler,
				  void *userdata)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/modules", "re");

	return f ? running_kernel_read_modules(kernel, f, handler, userdata) : 0;
}

int running_kernel_report(struct running_kernel *kernel, proc_scan_handler handler, void *userdata)
{
	struct kernel_text text = { 0 };
	int r = read_kallsyms(&text);

	if (r >= 0)
		r = tell_kernel(&text, handler, userdata);
	if (r >= 0)
		r = tell_functions(&text.functions, handler, userdata);
	if (r >= 0)
		r = running_kernel_report_modules(kernel, handler, userdata);
	free(text.functions.places);
	return r < 0 ? r : 0;
}
