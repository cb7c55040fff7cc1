/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/windows-json.h"

#include <errno.h>
#include <stdio.h>

#include "client/rpc/reply-error.h"
#include "common/json/json-cleanup.h"
#include "common/util/cleanup.h"

static int read_window(struct window_info *ret, json_t *json)
{
	json_int_t id, start_us, length_us, samples, lost;
	const char *mode;
	int open;

	if (json_unpack(json, "{s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "id", &id, "start_us",
			&start_us, "length_us", &length_us, "samples", &samples, "lost", &lost,
			"open", &open, "mode", &mode) < 0 ||
	    id < 0 || start_us < 0 || length_us < 0 || samples < 0 || lost < 0 ||
	    length_us > INT64_MAX - start_us)
		return -EINVAL;
	*ret = (struct window_info){
		.id = id,
		.start_us = (uint64_t)start_us,
		.length_us = (uint64_t)length_us,
		.samples = (uint64_t)samples,
		.lost = (uint64_t)lost,
		.open = open,
	};
	snprintf(ret->mode, sizeof(ret->mode), "%s", mode);
	return 0;
}

int windows_read(struct windows *ret, const char *text, size_t n_bytes, struct fault *fault)
{
	_cleanup_json_ json_t *list = json_loadb(text, n_bytes, 0, NULL);
	struct window_info window;
	json_t *each;
	size_t i;

	if (!json_is_array(list))
		return reply_error_unreadable(fault, "invalid windows");
	json_array_foreach(list, i, each) {
		if (read_window(&window, each) < 0)
			return reply_error_unreadable(fault, "invalid window");
		if (windows_add(ret, &window) < 0)
			return fault_set(fault, -ENOMEM, "out of memory");
	}
	return 0;
}

static int read_mark(struct window_mark *ret, json_t *json)
{
	json_int_t first, last, n_windows, samples, lost, since_us, until_us, made_us, uid;
	const char *name;

	if (json_unpack(json, "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name", &name,
			"first", &first, "last", &last, "windows", &n_windows, "since_us",
			&since_us, "until_us", &until_us, "samples", &samples, "lost", &lost,
			"made_us", &made_us, "uid", &uid) < 0 ||
	    n_windows < 0 || since_us < 0 || until_us < 0 || samples < 0 || lost < 0 ||
	    made_us < 0 || uid < 0)
		return -EINVAL;
	*ret = (struct window_mark){
		.first = first,
		.last = last,
		.n_windows = (uint64_t)n_windows,
		.samples = (uint64_t)samples,
		.lost = (uint64_t)lost,
		.since_us = (uint64_t)since_us,
		.until_us = (uint64_t)until_us,
		.made_us = (uint64_t)made_us,
		.uid = (uint32_t)uid,
	};
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

int windows_read_mark(struct windows *ret, json_t *json, struct fault *fault)
{
	struct window_mark mark;

	if (read_mark(&mark, json) < 0)
		return reply_error_unreadable(fault, "invalid mark");
	if (windows_add_mark(ret, &mark) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return 0;
}

int windows_read_marks(struct windows *ret, const char *text, size_t n_bytes, struct fault *fault)
{
	_cleanup_json_ json_t *list = json_loadb(text, n_bytes, 0, NULL);
	json_t *each;
	size_t i;
	int r = 0;

	json_array_foreach(list, i, each)
		if (r >= 0)
			r = windows_read_mark(ret, each, fault);
	return r;
}
