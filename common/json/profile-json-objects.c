/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the parts of a profile's JSON that are objects with named members, one object at a time, by
 * jansson. Members are read by name; an object with more members than were read is refused. There
 * are many functions: those that look as profile_json_write() has them are read without jansson.
 */
#include "common/json/profile-json-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json-cleanup.h"
#include "common/json/json-text.h"
#include "common/json/profile-json-columns.h"
#include "common/util/cleanup.h"

/* The member, which may be null; or NULL and the fault. */
static json_t *take(struct profile_json_reader *r, const char *name)
{
	json_t *value = json_object_get(r->object, name);

	if (!value)
		fail(r, name, "is missing");
	else
		r->n_taken++;
	return value;
}

/* *@ret is the profile's own copy. null gives NULL, if @null_allowed. */
static int take_string(struct profile_json_reader *r, const char *name, bool null_allowed,
		       const char **ret)
{
	_cleanup_free_ char *bytes = NULL;
	json_t *value = take(r, name);
	int error = 0;

	if (!value)
		return -EINVAL;
	if (json_is_null(value) && null_allowed) {
		*ret = NULL;
		return 0;
	}
	if (!json_is_string(value))
		return fail(r, name, "a string expected");
	bytes = json_text_bytes(json_string_value(value));
	if (!bytes)
		return -ENOMEM;
	*ret = profile_string(r->p, bytes, &error);
	return error;
}

static int count_of(struct profile_json_reader *r, const char *name, const json_t *value,
		    uint64_t *ret)
{
	if (json_is_string(value) && json_parse_big_count(json_string_value(value), ret))
		return 0;
	if (!json_is_integer(value))
		return fail(r, name, "a whole number expected");
	if (json_integer_value(value) < 0)
		return fail(r, name, "a count below zero");
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

static int take_count(struct profile_json_reader *r, const char *name, uint64_t *ret)
{
	json_t *value = take(r, name);

	return value ? count_of(r, name, value, ret) : -EINVAL;
}

/* As take_count(), but at most @max. null gives @unknown, which the number itself may not be. */
static int take_known(struct profile_json_reader *r, const char *name, uint64_t max,
		      uint64_t unknown, uint64_t *ret)
{
	json_t *value = take(r, name);
	uint64_t count;
	int error;

	if (!value)
		return -EINVAL;
	if (json_is_null(value)) {
		*ret = unknown;
		return 0;
	}
	error = count_of(r, name, value, &count);
	if (error < 0)
		return error;
	if (count > max)
		return fail(r, name, "too large");
	if (count == unknown)
		return fail(r, name, "null expected for an unknown value");
	*ret = count;
	return 0;
}

/* A member that version 3 lacks. */
static int take_bool(struct profile_json_reader *r, const char *name, bool before, bool *ret)
{
	json_t *value;

	*ret = before;
	if (r->version < 4)
		return 0;
	value = take(r, name);
	if (!value)
		return -EINVAL;
	if (!json_is_boolean(value))
		return fail(r, name, "true or false expected");
	*ret = json_is_true(value);
	return 0;
}

static int take_number(struct profile_json_reader *r, const char *name, uint32_t *ret)
{
	uint64_t count;
	int error = take_count(r, name, &count);

	if (error < 0)
		return error;
	if (count > UINT32_MAX)
		return fail(r, name, "too large");
	*ret = (uint32_t)count;
	return 0;
}

static int take_known_number(struct profile_json_reader *r, const char *name, uint32_t max,
			     uint32_t unknown, uint32_t *ret)
{
	uint64_t count = 0;
	int error = take_known(r, name, max, unknown, &count);

	if (error >= 0)
		*ret = (uint32_t)count;
	return error;
}

/* null gives 0, if @null_allowed. */
static int take_hex(struct profile_json_reader *r, const char *name, bool null_allowed,
		    uint64_t *ret)
{
	json_t *value = take(r, name);

	if (!value)
		return -EINVAL;
	if (json_is_null(value) && null_allowed) {
		*ret = 0;
		return 0;
	}
	if (!json_is_string(value) || !json_parse_hex(json_string_value(value), ret))
		return fail(r, name, "\"0x...\" expected");
	return 0;
}

/* Refuses an object with members that were not read. */
static int finish_object(struct profile_json_reader *r)
{
	if (json_object_size(r->object) != r->n_taken)
		return fail(r, NULL, "unknown member");
	return 0;
}

/* Reads one object; @take_members reads its members. */
static int read_object(struct profile_json_reader *r,
		       int (*take_members)(struct profile_json_reader *))
{
	_cleanup_json_ json_t *object = NULL;
	int error;

	error = json_scan_object(&r->s, &object);
	if (error < 0)
		return error;
	r->object = object;
	r->n_taken = 0;
	return take_members(r);
}

/* @read_usual may be NULL; it returns 0 where it leaves the object to the other. */
static int read_objects(struct profile_json_reader *r,
			int (*read_usual)(struct profile_json_reader *),
			int (*take_members)(struct profile_json_reader *))
{
	int error = json_scan_token(&r->s, '[');

	for (r->s.row = 0; error >= 0; r->s.row++) {
		error = json_scan_element(&r->s, r->s.row == 0);
		if (error <= 0)
			break;
		error = read_usual ? read_usual(r) : 0;
		error = error ?: read_object(r, take_members);
	}
	r->s.row = SIZE_MAX;
	return error;
}

static int take_info(struct profile_json_reader *r)
{
	struct profile_info *info = &r->p->info;

	TRY(take_string(r, "mode", true, &info->mode));
	TRY(take_string(r, "event", true, &info->event));
	TRY(take_string(r, "hostname", true, &info->hostname));
	TRY(take_string(r, "os_release", true, &info->os_release));
	TRY(take_string(r, "cpu", true, &info->cpu));
	TRY(take_known_number(r, "n_cpus", UINT32_MAX, 0, &info->n_cpus));
	TRY(take_known_number(r, "depth", UINT32_MAX, 0, &info->depth));
	TRY(take_known(r, "start_ns", UINT64_MAX, 0, &info->start_ns));
	TRY(take_known(r, "end_ns", UINT64_MAX, 0, &info->end_ns));
	return finish_object(r);
}

static int take_counters(struct profile_json_reader *r)
{
#define X(name, what)                                                                \
	if (r->version >= PROFILE_JSON_VERSION || json_object_get(r->object, #name)) \
		TRY(take_count(r, #name, &r->p->counters.name));
	PROFILE_COUNTERS(X)
#undef X
	return finish_object(r);
}

static int take_process(struct profile_json_reader *r)
{
	struct profile_process process = { 0 };
	uint64_t pid = 0;

	TRY(take_known(r, "pid", INT32_MAX, UINT64_MAX, &pid));
	process.pid = pid == UINT64_MAX ? -1 : (int32_t)pid;
	TRY(take_count(r, "start_ns", &process.start_ns));
	TRY(take_string(r, "comm", false, &process.comm));
	TRY(take_string(r, "executable", true, &process.executable));
	TRY(take_string(r, "unit", true, &process.unit));
	TRY(take_known_number(r, "uid", UINT32_MAX, UINT32_MAX, &process.uid));
	TRY(take_bool(r, "restricted", true, &process.restricted));
	TRY(take_count(r, "samples", &process.samples));
	if (r->version >= 6)
		TRY(take_count(r, "gone", &process.n_gone));
	TRY(finish_object(r));
	TRY(profile_add_process(r->p, &process));
	return 0;
}

static int take_kind(struct profile_json_reader *r, enum object_kind *ret)
{
	json_t *value = take(r, "kind");
	const char *name = json_string_value(value);

	if (!value)
		return -EINVAL;
	for (size_t i = 0; name && i < N_OBJECT_KINDS; i++) {
		if (strcmp(name, object_kind_names[i]) == 0) {
			*ret = (enum object_kind)i;
			return 0;
		}
	}
	return fail(r, "kind", "not a kind of object");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_build_id(struct profile_json_reader *r, struct profile_object *object)
{
	json_t *value = take(r, "build_id");
	const char *text;
	size_t n;

	if (!value)
		return -EINVAL;
	if (json_is_null(value))
		return 0;
	text = json_string_value(value) ?: "";
	n = strlen(text);
	if (n == 0 || n % 2 != 0 || n / 2 > PROFILE_BUILD_ID_MAX)
		return fail(r, "build_id", "up to 40 hexadecimal digits expected");
	for (size_t i = 0; i < n / 2; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return fail(r, "build_id", "up to 40 hexadecimal digits expected");
		object->build_id[i] = (uint8_t)(high << 4 | low);
	}
	object->n_build_id = (uint8_t)(n / 2);
	return 0;
}

static int take_profile_object(struct profile_json_reader *r)
{
	struct profile_object object = { 0 };

	TRY(take_kind(r, &object.kind));
	TRY(take_string(r, "path", false, &object.path));
	TRY(take_build_id(r, &object));
	TRY(take_number(r, "major", &object.major));
	TRY(take_number(r, "minor", &object.minor));
	TRY(take_known(r, "inode", UINT64_MAX, 0, &object.inode));
	TRY(take_hex(r, "base", true, &object.base));
	TRY(take_bool(r, "untrusted", false, &object.untrusted));
	if (r->version >= 4)
		TRY(take_known(r, "ctime_ns", UINT64_MAX, 0, &object.ctime_ns));
	TRY(finish_object(r));
	TRY(profile_add_object(r->p, &object));
	return 0;
}

#define PLAIN_NAME_MAX 256

static bool skip_text(struct json_scanner *s, const char *text)
{
	size_t n = strlen(text);

	if (s->n_bytes - s->at < n || memcmp(s->text + s->at, text, n) != 0)
		return false;
	s->at += n;
	return true;
}

/* Up to the closing quote, which is skipped: characters that stand for themselves. */
static bool scan_plain(struct json_scanner *s, char ret[PLAIN_NAME_MAX])
{
	const char *text = s->text + s->at;
	size_t left = MIN(s->n_bytes - s->at, (size_t)PLAIN_NAME_MAX), n = 0;

	while (n < left && text[n] >= ' ' && text[n] <= '~' && text[n] != '"' && text[n] != '\\')
		n++;
	if (n == left || text[n] != '"')
		return false;
	memcpy(ret, text, n);
	ret[n] = '\0';
	s->at += n + 1;
	return true;
}

static bool scan_function(struct json_scanner *s, struct profile_function *ret,
			  char name[PLAIN_NAME_MAX])
{
	uint64_t object;

	if (json_scan_token(s, '{') < 0 || !skip_text(s, "\"object\": ") ||
	    json_scan_count(s, "object", &object) < 0 || object >= PROFILE_NONE ||
	    !skip_text(s, ", \"start\": ") || json_scan_hex(s, "start", &ret->start) < 0 ||
	    !skip_text(s, ", \"size\": ") || json_scan_count(s, "size", &ret->size) < 0 ||
	    !skip_text(s, ", \"name\": \"") || !scan_plain(s, name) ||
	    !skip_text(s, ", \"fingerprint\": "))
		return false;
	ret->object = (uint32_t)object;
	if (!json_scan_null(s) && json_scan_hex(s, "fingerprint", &ret->fingerprint) < 0)
		return false;
	return json_scan_token(s, '}') == 0;
}

/* 1; 0: it does not look as usual, and nothing was read; -errno. */
static int read_usual_function(struct profile_json_reader *r)
{
	struct profile_function function = { 0 };
	struct json_scanner s = r->s;
	char name[PLAIN_NAME_MAX];
	struct fault unused;
	int error = 0;

	s.fault = &unused;
	if (!scan_function(&s, &function, name))
		return 0;
	r->s.at = s.at;
	function.name = profile_string(r->p, name, &error);
	TRY(error);
	TRY(profile_add_function(r->p, &function));
	return 1;
}

static int take_function(struct profile_json_reader *r)
{
	struct profile_function function = { 0 };

	TRY(take_known_number(r, "object", PROFILE_NONE, PROFILE_NONE, &function.object));
	TRY(take_hex(r, "start", false, &function.start));
	TRY(take_count(r, "size", &function.size));
	TRY(take_string(r, "name", false, &function.name));
	TRY(take_hex(r, "fingerprint", true, &function.fingerprint));
	TRY(finish_object(r));
	TRY(profile_add_function(r->p, &function));
	return 0;
}

int profile_json_read_info(struct profile_json_reader *r)
{
	return read_object(r, take_info);
}

int profile_json_read_counters(struct profile_json_reader *r)
{
	return read_object(r, take_counters);
}

int profile_json_read_processes(struct profile_json_reader *r)
{
	return read_objects(r, NULL, take_process);
}

int profile_json_read_objects(struct profile_json_reader *r)
{
	return read_objects(r, NULL, take_profile_object);
}

int profile_json_read_functions(struct profile_json_reader *r)
{
	return read_objects(r, read_usual_function, take_function);
}
