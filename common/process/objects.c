/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/profile/jit-map.h"
#include "common/util/cleanup.h"

#define MIN_SWEEP  1024 /* objects; with fewer, unused ones are not searched for */
#define SHORT_PATH 256  /* bytes; longer ones are rare */

struct entry {
	UT_hash_handle hh;
	struct object *object;
	bool learnt; /* its build-id was reported apart from its mappings */
	size_t n_key;
	char key[];
};

struct learnt {
	UT_hash_handle hh;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint8_t n_build_id; /* 0: two different ones were reported */
	char path[];
};

struct objects {
	struct entry *entries;
	struct learnt *learnt;
	bool keep_generations;
	unsigned int sweep_at; /* the number of entries at which unused ones are dropped */
};

/* What distinguishes objects of the same path. */
struct key_head {
	enum object_kind kind;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint64_t base, ctime_ns;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
};

int objects_new(struct objects **ret)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->sweep_at = MIN_SWEEP;
	*ret = o;
	return 0;
}

void objects_keep_generations(struct objects *objects)
{
	objects->keep_generations = true;
}

static void drop(struct objects *o, struct entry *e)
{
	HASH_DEL(o->entries, e);
	object_unref(e->object);
	free(e);
}

struct objects *objects_free(struct objects *objects)
{
	struct entry *e, *next;
	struct learnt *l, *l_next;

	if (!objects)
		return NULL;
	HASH_ITER(hh, objects->entries, e, next)
		drop(objects, e);
	HASH_ITER(hh, objects->learnt, l, l_next) {
		HASH_DEL(objects->learnt, l);
		free(l);
	}
	free(objects);
	return NULL;
}

/* Drops the objects that nobody maps any more, from time to time. */
static void sweep(struct objects *o)
{
	struct entry *e, *next;

	if (HASH_COUNT(o->entries) < o->sweep_at)
		return;
	HASH_ITER(hh, o->entries, e, next)
		if (e->object->n_refs == 1)
			drop(o, e);
	o->sweep_at = MAX(2 * HASH_COUNT(o->entries), (unsigned int)MIN_SWEEP);
}

/* "/lib/modules/6.1/kernel/net/nf-tables.ko.xz" is the module [nf_tables]. NULL: no memory. */
static char *module_name(const char *path)
{
	const char *base = strrchr(path, '/'), *end;
	char *name, *p;

	base = base ? base + 1 : path;
	end = strstr(base, ".ko");
	if (!end)
		return strdup(path);
	if (asprintf(&name, "[%.*s]", (int)(end - base), base) < 0)
		return NULL;
	for (p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

/* The name and kind of the object that is mapped as @path; *@ret_memory is to be freed after it is
 * used. NULL: no memory. */
static const char *name_object(const char *path, bool kernel, enum object_kind *ret_kind,
			       char **ret_memory)
{
	if (kernel && (strncmp(path, "[kernel.", 8) == 0 || strcmp(path, "[kernel]") == 0)) {
		*ret_kind = OBJECT_KERNEL;
		return "[kernel]";
	}
	if (kernel) {
		*ret_kind = OBJECT_MODULE;
		*ret_memory = module_name(path);
		return *ret_memory;
	}
	if (strcmp(path, "[vdso]") == 0)
		*ret_kind = OBJECT_VDSO;
	else if (path[0] != '/')
		*ret_kind = OBJECT_MEMORY;
	else
		*ret_kind = OBJECT_FILE;
	return path;
}

static void apply_learnt(struct objects *o, struct entry *e)
{
	struct profile_object *what = &e->object->what;
	struct learnt *l;

	if (what->n_build_id > 0 && !e->learnt)
		return;
	HASH_FIND_STR(o->learnt, what->path, l);
	if (!l)
		return;
	memcpy(what->build_id, l->build_id, sizeof(what->build_id));
	what->n_build_id = l->n_build_id;
	e->learnt = true;
}

static void write_key(char *to, const struct profile_object *what, size_t n_path)
{
	struct key_head head;

	memset(&head, 0, sizeof(head)); /* its padding is hashed, too */
	head.kind = what->kind;
	head.major = what->major;
	head.minor = what->minor;
	head.inode = what->inode;
	head.generation = what->generation;
	head.base = what->base;
	head.ctime_ns = what->ctime_ns;
	memcpy(head.build_id, what->build_id, sizeof(head.build_id));
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), what->path, n_path);
}

static struct object *add(struct objects *o, const struct profile_object *what,
			  const char *function)
{
	size_t n_path = strlen(what->path), n_key = sizeof(struct key_head) + n_path;
	_cleanup_free_ struct entry *fresh = calloc(1, sizeof(*fresh) + n_key);
	struct entry *e;

	if (!fresh)
		return NULL;
	write_key(fresh->key, what, n_path);
	fresh->object = object_new(what, function);
	if (!fresh->object)
		return NULL;
	HASH_ADD_KEYPTR(hh, o->entries, fresh->key, n_key, fresh);
	if (!fresh->hh.tbl) {
		object_unref(fresh->object);
		return NULL;
	}
	e = TAKE_PTR(fresh);
	apply_learnt(o, e);
	return object_ref(e->object);
}

/* The object of @what, found or made, with a reference. */
static struct object *intern(struct objects *o, const struct profile_object *what,
			     const char *function)
{
	size_t n_path = strlen(what->path), n_key = sizeof(struct key_head) + n_path;
	char buffer[sizeof(struct key_head) + SHORT_PATH];
	_cleanup_free_ char *memory = NULL;
	char *key = n_path <= SHORT_PATH ? buffer : (memory = malloc(n_key));
	struct entry *e;

	if (!key)
		return NULL;
	sweep(o);
	write_key(key, what, n_path);
	HASH_FIND(hh, o->entries, key, n_key, e);
	return e ? object_ref(e->object) : add(o, what, function);
}

/* As perf report does it, and with the names that newer kernels show in /proc/PID/maps. */
static bool is_anonymous(const struct mapping_event *mapping)
{
	return !mapping->kernel && (strncmp(mapping->path, "//anon", 6) == 0 ||
				    strncmp(mapping->path, "/anon_hugepage", 14) == 0 ||
				    strncmp(mapping->path, "[anon:", 6) == 0);
}

static struct object *intern_anonymous(struct objects *objects, const struct mapping_owner *owner)
{
	char path[JIT_MAP_NAME_MAX];
	const struct profile_object what = {
		.kind = OBJECT_MEMORY,
		.path = path,
		.ctime_ns = objects->keep_generations ? owner->start_ns : 0,
	};

	jit_map_name(path, owner->pid);
	return intern(objects, &what, NULL);
}

struct object *objects_of_mapping(struct objects *objects, const struct mapping_event *mapping,
				  const struct mapping_owner *owner, uint64_t *ret_shift)
{
	struct profile_object what = {
		.n_build_id = mapping->n_build_id,
		.major = mapping->major,
		.minor = mapping->minor,
		.inode = mapping->inode,
		.generation = objects->keep_generations ? mapping->generation : 0,
	};
	_cleanup_free_ char *memory = NULL;

	if (is_anonymous(mapping)) {
		*ret_shift = 0;
		return intern_anonymous(objects, owner);
	}
	what.path = name_object(mapping->path, mapping->kernel, &what.kind, &memory);
	if (!what.path)
		return NULL;
	memcpy(what.build_id, mapping->build_id, sizeof(what.build_id));
	switch (what.kind) {
	case OBJECT_KERNEL: /* perf puts the address of _text, or _stext, in the place of the offset
			     */
		what.base = mapping->file_offset;
		*ret_shift = -mapping->file_offset;
		break;
	case OBJECT_MODULE:
		what.base = mapping->address;
		*ret_shift = -mapping->address;
		break;
	case OBJECT_VDSO:
		*ret_shift = -mapping->address;
		break;
	case OBJECT_MEMORY:
		*ret_shift = 0;
		break;
	default:
		*ret_shift = mapping->file_offset - mapping->address;
	}
	return intern(objects, &what, NULL);
}

struct object *objects_of_ksymbol(struct objects *objects, const struct ksymbol_event *ksymbol,
				  uint64_t *ret_shift)
{
	struct profile_object what = { .kind = OBJECT_MODULE, .base = ksymbol->address };
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "[%s]", ksymbol->name) < 0)
		return NULL;
	what.path = path;
	*ret_shift = -ksymbol->address;
	return intern(objects, &what, ksymbol->name);
}

int objects_learn_build_id(struct objects *objects, const struct build_id_event *event)
{
	enum object_kind kind;
	_cleanup_free_ char *memory = NULL;
	const char *path = name_object(event->path, event->kernel, &kind, &memory);
	struct entry *e, *next;
	struct learnt *l;

	if (!path)
		return -ENOMEM;
	HASH_FIND_STR(objects->learnt, path, l);
	if (l) {
		if (l->n_build_id != event->n_build_id ||
		    memcmp(l->build_id, event->build_id, l->n_build_id) != 0)
			l->n_build_id = 0;
	} else {
		l = calloc(1, sizeof(*l) + strlen(path) + 1);
		if (!l)
			return -ENOMEM;
		memcpy(l->path, path, strlen(path) + 1);
		memcpy(l->build_id, event->build_id, sizeof(l->build_id));
		l->n_build_id = event->n_build_id;
		HASH_ADD_STR(objects->learnt, path, l);
		if (!l->hh.tbl) {
			free(l);
			return -ENOMEM;
		}
	}
	HASH_ITER(hh, objects->entries, e, next)
		apply_learnt(objects, e);
	return 0;
}
