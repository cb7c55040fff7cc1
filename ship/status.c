/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/json/json-cleanup.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

static json_t *seconds(uint64_t us)
{
	return us > 0 ? json_real((double)us / 1e6) : json_null();
}

int status_write(const char *path, const struct spool_totals *spool,
		 const struct sender_totals *sender)
{
	_cleanup_json_ json_t *json = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "sent_windows",
		(json_int_t)sender->sent_windows, "sent_bytes", (json_int_t)sender->sent_bytes,
		"failures", (json_int_t)sender->failures, "waiting_batches",
		(json_int_t)spool->n_batches, "waiting_bytes", (json_int_t)spool->bytes,
		"dropped_windows", (json_int_t)spool->dropped_windows, "oldest_waiting",
		seconds(spool->oldest_us), "last_sent", seconds(sender->last_end_us), "written",
		seconds(clock_us(CLOCK_REALTIME)), "last_failure",
		sender->fault.text[0] ? json_string(sender->fault.text) : json_null());
	_cleanup_free_ char *temporary = NULL;

	if (!json || asprintf(&temporary, "%s.new", path) < 0) {
		temporary = NULL;
		return -ENOMEM;
	}
	if (json_dump_file(json, temporary, JSON_REAL_PRECISION(16)) < 0 ||
	    rename(temporary, path) < 0)
		return -EIO;
	return 0;
}

static json_int_t count(const json_t *json, const char *name)
{
	return json_integer_value(json_object_get(json, name));
}

static double age(const json_t *json, const char *name)
{
	return (double)clock_us(CLOCK_REALTIME) / 1e6 -
	       json_real_value(json_object_get(json, name));
}

static void print_text(const json_t *json)
{
	const char *failure = json_string_value(json_object_get(json, "last_failure"));

	printf("sent: %" JSON_INTEGER_FORMAT " windows, %.1f MiB since the start\n",
	       count(json, "sent_windows"), (double)count(json, "sent_bytes") / (1 << 20));
	if (json_is_real(json_object_get(json, "last_sent")))
		printf("lag: the last window that was sent ended %.0f s ago\n",
		       age(json, "last_sent"));
	printf("waiting: %" JSON_INTEGER_FORMAT " batches, %.1f MiB",
	       count(json, "waiting_batches"), (double)count(json, "waiting_bytes") / (1 << 20));
	if (json_is_real(json_object_get(json, "oldest_waiting")))
		printf("; the oldest window began %.0f s ago", age(json, "oldest_waiting"));
	printf("\ndropped: %" JSON_INTEGER_FORMAT " windows\n", count(json, "dropped_windows"));
	if (failure)
		printf("failing: %s\n", failure);
	if (age(json, "written") > 60)
		printf("branchd-ship has not said more for %.0f s: see systemctl status "
		       "branchd-ship\n",
		       age(json, "written"));
}

int status_print(const char *path, bool json, struct fault *fault)
{
	json_error_t error;
	_cleanup_json_ json_t *status = json_load_file(path, 0, &error);

	if (!status && access(path, R_OK) < 0 && errno == EACCES)
		return fault_set(fault, -EACCES,
				 "%s: only root and the group branchd may read it: join the group "
				 "(usermod -aG branchd USER, then log in again)",
				 path);
	if (!json_is_object(status))
		return fault_set(fault, -ENOENT,
				 "%s: no status: is branchd-ship running? systemctl start "
				 "branchd-ship",
				 path);
	if (!json) {
		print_text(status);
		return 0;
	}
	json_dumpf(status, stdout, JSON_REAL_PRECISION(16));
	putchar('\n');
	return 0;
}
