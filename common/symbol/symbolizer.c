/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache of objects, by build-id where there is one.
 *
 * Each is sought once, and what became of it is kept: its symbols, or the reason why there are
 * none. Source lines are read separately, when somebody first asks for them.
 */
#include "common/symbol/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/symbol/elf-file.h"
#include "common/symbol/finder.h"
#include "common/symbol/kallsyms.h"
#include "common/symbol/lines.h"
#include "common/symbol/vdso.h"
#include "common/util/cleanup.h"
#include "common/util/fault.h"

struct cached {
	UT_hash_handle hh;
	char *path;
	char *found_at;		      /* NULL where it has no file */
	char *why;		      /* NULL where there are symbols */
	struct elf_file *file;	      /* NULL of kernel and modules */
	struct symbol_table *symbols; /* borrowed from the file where there is one */
	struct lines *lines;
	bool lines_sought;
	size_t n_key;
	uint8_t key[];
};

struct symbolizer {
	struct symbolizer_settings settings;
	char *symfs, *debug_dir;
	struct kallsyms *kallsyms;
	struct cached *cache;
};

static int copy_string(char **ret, const char *s)
{
	char *copy;

	if (!s)
		return 0;
	copy = strdup(s);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = copy_string(&s->symfs, settings->symfs);
	if (!r)
		r = copy_string(&s->debug_dir, settings->debug_dir);
	if (!r)
		r = kallsyms_new(&s->kallsyms, settings->kallsyms);
	if (r < 0)
		return r;
	s->settings.symfs = s->symfs;
	s->settings.debug_dir = s->debug_dir;
	*ret = TAKE_PTR(s);
	return 0;
}

static void free_cached(struct cached *c)
{
	if (!c)
		return;
	lines_free(c->lines);
	if (c->file)
		elf_file_free(c->file);
	else
		symbol_table_free(c->symbols);
	free(c->why);
	free(c->found_at);
	free(c->path);
	free(c);
}

struct symbolizer *symbolizer_free(struct symbolizer *s)
{
	struct cached *c, *next;

	if (!s)
		return NULL;
	HASH_ITER(hh, s->cache, c, next) {
		HASH_DEL(s->cache, c);
		free_cached(c);
	}
	kallsyms_free(s->kallsyms);
	free(s->debug_dir);
	free(s->symfs);
	free(s);
	return NULL;
}

/* Writes the key at @key (or nowhere) and returns its size. */
static size_t make_key(const struct profile_object *o, uint8_t *key)
{
	struct {
		uint8_t kind, n_build_id;
		uint8_t build_id[PROFILE_BUILD_ID_MAX];
		uint32_t major, minor;
		uint64_t inode;
	} head;
	size_t n_path = o->n_build_id ? 0 : strlen(o->path);

	memset(&head, 0, sizeof(head));
	head.kind = (uint8_t)o->kind;
	head.n_build_id = o->n_build_id;
	memcpy(head.build_id, o->build_id, o->n_build_id);
	if (!o->n_build_id) {
		head.major = o->major;
		head.minor = o->minor;
		head.inode = o->inode;
	}
	if (key) {
		memcpy(key, &head, sizeof(head));
		memcpy(key + sizeof(head), o->path, n_path);
	}
	return sizeof(head) + n_path;
}

struct debug_place {
	const struct symbolizer_settings *settings;
	const char *path;
};

static int on_debug_wanted(const struct elf_file *file, void *userdata)
{
	const struct debug_place *place = userdata;

	return place->path ? finder_open_debug(place->settings, file, place->path) : -1;
}

static int read_file_symbols(struct symbolizer *s, struct cached *c, struct fault *why)
{
	struct debug_place place = { &s->settings, c->found_at };
	int r;

	r = elf_file_read_symbols(c->file, on_debug_wanted, &place);
	if (r < 0)
		return r;
	c->symbols = c->file->symbols;
	if (symbol_table_count(c->symbols))
		return 0;
	return fault_set(why, -ENODATA, "%s has no symbols", c->found_at ?: "it");
}

/* 0; -ENOMEM; or another negative errno and @why. */
static int read_object(struct symbolizer *s, const struct profile_object *o, struct cached *c,
		       struct fault *why)
{
	int r;

	switch (o->kind) {
	case OBJECT_KERNEL:
	case OBJECT_MODULE:
		return kallsyms_read_object(s->kallsyms, o, &c->symbols, why);
	case OBJECT_FILE:
		r = finder_open_object(&s->settings, o, &c->file, &c->found_at, why);
		break;
	case OBJECT_VDSO:
		r = vdso_open(o, &c->file, why);
		break;
	default:
		return fault_set(why, -ENODATA, "code in anonymous memory has no symbols");
	}
	return r < 0 ? r : read_file_symbols(s, c, why);
}

static int add_cached(struct symbolizer *s, const struct profile_object *o, struct cached **ret)
{
	size_t n = make_key(o, NULL);
	struct cached *c = calloc(1, sizeof(*c) + n);
	struct fault why = { .text = "" };
	int r;

	if (!c)
		return -ENOMEM;
	c->n_key = make_key(o, c->key);
	r = copy_string(&c->path, o->path);
	if (!r)
		r = read_object(s, o, c, &why);
	if (r < 0 && r != -ENOMEM)
		r = copy_string(&c->why, why.text);
	if (!r) {
		HASH_ADD(hh, s->cache, key, n, c);
		r = c->hh.tbl ? 0 : -ENOMEM;
	}
	if (r < 0) {
		free_cached(c);
		return r;
	}
	*ret = c;
	return 0;
}

static int get_cached(struct symbolizer *s, const struct profile_object *o, struct cached **ret)
{
	uint8_t room[512];
	size_t n = make_key(o, NULL);
	uint8_t *key = n <= sizeof(room) ? room : malloc(n);
	struct cached *c;

	if (!key)
		return -ENOMEM;
	make_key(o, key);
	HASH_FIND(hh, s->cache, key, n, c);
	if (key != room)
		free(key);
	if (!c)
		return add_cached(s, o, ret);
	*ret = c;
	return 0;
}

int symbolizer_find(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    struct symbol *ret)
{
	const struct symbol_entry *e;
	const char *name;
	struct cached *c;
	size_t i;
	int r;

	r = get_cached(s, object, &c);
	if (r < 0 || c->why)
		return r;
	i = symbol_table_find(c->symbols, offset);
	if (i == SYMBOL_TABLE_NONE)
		return 0;
	name = symbol_table_name(c->symbols, i);
	if (!name)
		return -ENOMEM;
	e = symbol_table_get(c->symbols, i);
	*ret = (struct symbol){ .start = e->start, .size = e->size, .name = name };
	return 1;
}

int symbolizer_address(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		       uint64_t *ret)
{
	struct cached *c;
	int r;

	r = get_cached(s, object, &c);
	if (r < 0 || !c->file)
		return r;
	return elf_file_address(c->file, offset, ret) ? 1 : 0;
}

/* The file itself has the lines, or its separate debug file. */
static int seek_lines(struct symbolizer *s, const struct profile_object *object, struct cached *c)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	struct fault ignored;
	int r;

	c->lines_sought = true;
	if (!c->file || !c->found_at)
		return 0;
	r = lines_open_path(&c->lines, c->found_at);
	if (r != -ENODATA)
		return r == -ENOMEM ? r : 0;
	r = finder_open_object(&s->settings, object, &file, &path, &ignored);
	if (!r)
		r = lines_open(&c->lines, finder_open_debug(&s->settings, file, path));
	return r == -ENOMEM ? r : 0;
}

int symbolizer_lines(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		     struct source_frame *ret, size_t n)
{
	struct symbol symbol;
	uint64_t address;
	struct cached *c;
	int r;

	r = get_cached(s, object, &c);
	if (!r && !c->lines_sought)
		r = seek_lines(s, object, c);
	if (r < 0 || !c->lines || !elf_file_address(c->file, offset, &address))
		return r;
	r = symbolizer_find(s, object, offset, &symbol);
	return r < 0 ? r : lines_find(c->lines, address, r ? symbol.name : NULL, ret, n);
}

void symbolizer_for_each_problem(const struct symbolizer *s, symbolizer_handler handler,
				 void *userdata)
{
	for (const struct cached *c = s->cache; c; c = c->hh.next)
		if (c->why)
			handler(c->path, c->why, userdata);
}

/* What naming a profile needs to know of one of its objects. */
struct named {
	struct cached *cached; /* NULL where it has no symbols */
	uint8_t *seen;	       /* a bit for each symbol */
	size_t last;	       /* the symbol found last: the next place is often in it too */
	bool sought;
};

struct naming {
	struct symbolizer *symbolizer;
	struct profile *profile;
	struct named *objects;
};

static int seek_named(struct naming *naming, uint32_t object, struct named *named)
{
	struct cached *c;
	int r;

	named->sought = true;
	r = get_cached(naming->symbolizer, &naming->profile->objects[object], &c);
	if (r < 0 || c->why)
		return r;
	named->seen = calloc(symbol_table_count(c->symbols) / 8 + 1, 1);
	if (!named->seen)
		return -ENOMEM;
	named->cached = c;
	return 0;
}

static int mark(struct naming *naming, uint32_t object, uint64_t offset)
{
	struct named *named;
	size_t i;
	int r;

	if (object >= naming->profile->n_objects)
		return 0;
	named = &naming->objects[object];
	if (!named->sought) {
		r = seek_named(naming, object, named);
		if (r < 0)
			return r;
	}
	if (!named->cached)
		return 0;
	i = symbol_table_find_near(named->cached->symbols, offset, named->last);
	if (i == SYMBOL_TABLE_NONE)
		return 0;
	named->last = i;
	named->seen[i / 8] |= (uint8_t)(1U << i % 8);
	return 0;
}

static int mark_all(struct naming *naming)
{
	const struct profile *p = naming->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks && !r; i++)
		r = mark(naming, p->stacks[i].frame.object, p->stacks[i].frame.offset);
	for (size_t i = 0; i < p->n_branches && !r; i++)
		r = mark(naming, p->branches[i].from.object, p->branches[i].from.offset);
	for (size_t i = 0; i < p->n_branches && !r; i++)
		r = mark(naming, p->branches[i].to.object, p->branches[i].to.offset);
	for (size_t i = 0; i < p->n_blocks && !r; i++)
		r = mark(naming, p->blocks[i].object, p->blocks[i].start);
	for (size_t i = 0; i < p->n_blocks && !r; i++)
		r = mark(naming, p->blocks[i].object, p->blocks[i].end);
	return r;
}

static int add_functions(struct naming *naming, uint32_t object)
{
	const struct named *named = &naming->objects[object];
	size_t n = named->cached ? symbol_table_count(named->cached->symbols) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct symbol_entry *e = symbol_table_get(named->cached->symbols, i);
		struct profile_function function = {
			.object = object,
			.start = e->start,
			.size = e->size,
		};

		if (!(named->seen[i / 8] & 1U << i % 8))
			continue;
		function.name = symbol_table_name(named->cached->symbols, i);
		if (!function.name || profile_add_function(naming->profile, &function) < 0)
			return -ENOMEM;
	}
	return 0;
}

int symbolizer_name_profile(struct symbolizer *s, struct profile *profile)
{
	struct naming naming = { .symbolizer = s, .profile = profile };
	size_t n = profile->n_objects;
	int r;

	naming.objects = calloc(n ? n : 1, sizeof(*naming.objects));
	if (!naming.objects)
		return -ENOMEM;
	r = mark_all(&naming);
	for (uint32_t i = 0; i < n && !r; i++)
		r = add_functions(&naming, i);
	for (size_t i = 0; i < n; i++)
		free(naming.objects[i].seen);
	free(naming.objects);
	return r;
}
