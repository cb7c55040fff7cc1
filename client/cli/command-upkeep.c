/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The database of the daemon is made smaller, or verified. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/rpc/connection.h"
#include "client/rpc/upkeep-api.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "common/util/macro.h"

/* Standard output may be a full disk. */
static int finish(int r, struct fault *fault)
{
	struct output output = { .f = stdout };

	return output_close(&output, fault) < 0 ? -EIO : r;
}

static void write_bytes(uint64_t n)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)n;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	printf(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

int command_vacuum(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct upkeep_vacuumed done;
	int r;

	r = connection_open(&connection, options->source.socket, fault);
	if (r >= 0)
		r = upkeep_api_vacuum(connection, options->max_bytes, options->keep_us, &done,
				      fault);
	if (r < 0)
		return r;
	if (options->json) {
		printf("{\"windows\": %" PRIu64 ", \"freed_bytes\": %" PRIu64
		       ", \"bytes\": %" PRIu64 "}\n",
		       done.n_windows, done.freed_bytes, done.bytes);
		return finish(0, fault);
	}
	printf("removed %" PRIu64 " window%s and freed ", done.n_windows,
	       done.n_windows == 1 ? "" : "s");
	write_bytes(done.freed_bytes);
	fputs("; the database has ", stdout);
	write_bytes(done.bytes);
	putchar('\n');
	return finish(0, fault);
}

static void write_report(const json_t *report)
{
	const json_t *problems = json_object_get(report, "problems"), *each;
	json_int_t found = json_integer_value(json_object_get(report, "found"));
	bool whole = json_is_true(json_object_get(report, "whole"));
	size_t i;

	json_array_foreach(problems, i, each) {
		text_write(stdout, json_string_value(json_object_get(each, "where")));
		fputs(": ", stdout);
		text_write(stdout, json_string_value(json_object_get(each, "what")));
		putchar('\n');
	}
	if (found > (json_int_t)json_array_size(problems))
		printf("and %" JSON_INTEGER_FORMAT " more\n",
		       found - (json_int_t)json_array_size(problems));
	printf("%s: %" JSON_INTEGER_FORMAT " windows, ",
	       found > 0 ? "damaged" :
	       whole     ? "all is well" :
			   "nothing found yet",
	       json_integer_value(json_object_get(report, "windows")));
	write_bytes((uint64_t)json_integer_value(json_object_get(report, "bytes")));
	puts(whole ? "" : "; not all could be read within ten minutes");
}

int command_verify(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	json_t *report;
	bool is_well;
	int r;

	r = connection_open(&connection, options->source.socket, fault);
	if (r >= 0)
		r = upkeep_api_verify(connection, &report, fault);
	if (r < 0)
		return r;
	if (options->json) {
		json_dumpf(report, stdout, 0);
		putchar('\n');
	} else {
		write_report(report);
	}
	is_well = json_integer_value(json_object_get(report, "found")) == 0 &&
		  json_is_true(json_object_get(report, "whole"));
	json_decref(report);
	return finish(is_well ? 0 : COMMAND_FOUND_PROBLEMS, fault);
}
