/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/mark-ref.h"

#include <errno.h>
#include <stdio.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define GAP_US 1000000 /* windows that follow each other are closer */

bool mark_ref_find(const struct windows *windows, const char *name, size_t *ret_first,
		   size_t *ret_n)
{
	const struct window_mark *mark = windows_find_mark(windows, name);
	size_t first = windows->n, end = 0;

	for (size_t i = 0; mark && i < windows->n; i++)
		if (windows_is_marked(mark, &windows->rows[i])) {
			first = MIN(first, i);
			end = i + 1;
		}
	if (end <= first)
		return false;
	*ret_first = first;
	*ret_n = end - first;
	return true;
}

/* A window with a mark is as it was written: it stands for one id. */
bool mark_ref_is_before_removed(const struct windows *windows, size_t at)
{
	const struct window_info *window = &windows->rows[at], *next = window + 1;

	if (next->start_us <= windows_end_us(window) + GAP_US || next->id == window->id + 1)
		return false;
	for (size_t i = 0; i < windows->n_marks; i++)
		if (windows_is_marked(&windows->marks[i], window))
			return true;
	return false;
}

bool mark_ref_is_removed(const struct windows *windows, uint64_t us)
{
	for (size_t i = 0; i + 1 < windows->n; i++)
		if (windows_end_us(&windows->rows[i]) <= us && us < windows->rows[i + 1].start_us)
			return mark_ref_is_before_removed(windows, i);
	return false;
}

/* "there are before, incident-7" */
static void describe_marks(const struct windows *windows, struct fault *ret)
{
	char names[300] = "";
	size_t length = 0;

	for (size_t i = 0; i < windows->n_marks && length < sizeof(names); i++)
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
					   i > 0 ? ", " : "", windows->marks[i].name);
	if (length >= sizeof(names))
		snprintf(names + sizeof(names) - 4, 4, "...");
	if (windows->n_marks == 0)
		fault_set(ret, 0, "there are no marks; branchctl mark NAME makes one");
	else
		fault_set(ret, 0, "there %s %s; branchctl mark --list says more",
			  windows->n_marks == 1 ? "is" : "are", names);
}

int mark_ref_not_found(const struct windows *windows, const char *name, struct fault *fault)
{
	struct fault list;

	describe_marks(windows, &list);
	return fault_set(fault, -ENOENT, "no mark is named '%s': %s", name, list.text);
}

int mark_ref_explain(const char *socket, const char *command, const char *word, int error,
		     struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	struct fault ignored;

	if (connection_open(&connection, socket, &ignored) < 0 ||
	    daemon_api_list_marks(connection, &windows, &ignored) < 0 ||
	    !windows_find_mark(&windows, word))
		return error;
	return fault_set(fault, -ENOENT,
			 "'%s' is a mark, and no function was found: give a function before it, "
			 "as in branchctl %s main %s",
			 word, command, word);
}
