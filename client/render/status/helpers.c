/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/status/parts.h"

#include <inttypes.h>

#include "client/term/text.h"
#include "common/util/macro.h"

/* Of the others "naming" says why they failed. */
static void write_helper(const struct status_text *s, const char *name, bool says_why, size_t *n)
{
	const json_t *helper = status_find(s, "helpers", name);
	json_int_t refused = json_integer_value(json_object_get(helper, "refused"));
	json_int_t failed = json_integer_value(json_object_get(helper, "failed"));

	if (says_why)
		failed = 0;
	if (refused <= 0 && failed <= 0)
		return;
	status_begin(s, (*n)++ == 0 ? "helpers" : "");
	fprintf(s->f, "branchd-%s", name);
	if (refused > 0)
		fprintf(s->f, " could not be reached %" JSON_INTEGER_FORMAT " %s%s", refused,
			refused == 1 ? "time" : "times", failed > 0 ? "," : "");
	if (failed > 0)
		fprintf(s->f, " died or hung %" JSON_INTEGER_FORMAT " %s", failed,
			failed == 1 ? "time" : "times");
	fputc('\n', s->f);
}

static void write_counts_of_naming(const struct status_text *s, size_t *n)
{
	static const struct {
		const char *name, *one, *many;
	} counts[] = {
		{ "behind", "window waits for its names", "windows wait for their names" },
		{ "parsers_died", "parser crashed or was killed",
		  "parsers crashed or were killed" },
		{ "parsers_cpu", "parser was ended: its file took too much CPU time",
		  "parsers were ended: their files took too much CPU time" },
		{ "parsers_timeout", "parser was ended: it did not answer in time",
		  "parsers were ended: they did not answer in time" },
		{ "parsers_answer", "parser was ended: it answered wrongly",
		  "parsers were ended: they answered wrongly" },
		{ "openers_timeout",
		  "opener was ended: it did not answer in time (does a file system hang?)",
		  "openers were ended: they did not answer in time (does a file system hang?)" },
		{ "files_skipped", "file was not tried: its file system had not answered before",
		  "files were not tried: their file systems had not answered before" },
		{ "files_remote",
		  "file is not opened: it is on a network file system or FUSE; see "
		  "RemoteFilesystems= in branchd.conf(5)",
		  "files are not opened: they are on network file systems or FUSE; see "
		  "RemoteFilesystems= in branchd.conf(5)" },
		{ "files_dropped", "mapped file was dropped: too many came at once",
		  "mapped files were dropped: too many came at once" },
		{ "files_deferred",
		  "file waits for the next window: one may read only a limited number",
		  "files wait for the next window: one may read only a limited number" },
		{ "lines_malformed", "line of a JIT map, /tmp/perf-PID.map, names no function",
		  "lines of JIT maps, /tmp/perf-PID.map, name no function" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint64_t value = status_get(s, "naming", counts[i].name);

		if (value == 0)
			continue;
		status_begin(s, (*n)++ == 0 ? "naming" : "");
		fprintf(s->f, "%" PRIu64 " %s\n", value,
			value == 1 ? counts[i].one : counts[i].many);
	}
}

static void write_naming(const struct status_text *s)
{
	const json_t *refused = status_find(s, "naming", "refused");
	size_t n = 0;

	write_counts_of_naming(s, &n);
	for (size_t i = 0; i < json_array_size(refused); i++) {
		const json_t *object = json_array_get(refused, i);

		status_begin(s, n++ == 0 ? "naming" : "");
		text_write(s->f, json_string_value(json_object_get(object, "path")) ?: "");
		fputs(" has no names: ", s->f);
		text_write(s->f, json_string_value(json_object_get(object, "reason")) ?: "");
		fputc('\n', s->f);
	}
}

void status_write_helpers(const struct status_text *s)
{
	size_t n = 0;

	write_helper(s, "opener", true, &n);
	write_helper(s, "parser", true, &n);
	write_helper(s, "events", false, &n);
	write_naming(s);
}
