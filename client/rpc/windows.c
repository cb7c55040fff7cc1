/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

void windows_done(struct windows *windows)
{
	free(windows->rows);
	free(windows->marks);
	*windows = (struct windows){};
}

static bool is_before(const struct window_info *a, const struct window_info *b)
{
	if (a->open != b->open)
		return b->open;
	return a->start_us != b->start_us ? a->start_us < b->start_us : a->id < b->id;
}

int windows_add(struct windows *windows, const struct window_info *window)
{
	size_t at = windows->n;
	int r = ARRAY_RESERVE(&windows->rows, &windows->cap, windows->n + 1);

	if (r < 0)
		return r;
	for (; at > 0 && is_before(window, &windows->rows[at - 1]); at--)
		windows->rows[at] = windows->rows[at - 1];
	windows->rows[at] = *window;
	windows->n++;
	return 0;
}

int windows_add_mark(struct windows *windows, const struct window_mark *mark)
{
	if (windows->n_marks == WINDOWS_MAX_MARKS)
		return 0;
	if (!windows->marks)
		windows->marks = calloc(WINDOWS_MAX_MARKS, sizeof(*windows->marks));
	if (!windows->marks)
		return -ENOMEM;
	windows->marks[windows->n_marks++] = *mark;
	return 0;
}

const struct window_mark *windows_find_mark(const struct windows *windows, const char *name)
{
	for (size_t i = 0; i < windows->n_marks; i++)
		if (strcmp(windows->marks[i].name, name) == 0)
			return &windows->marks[i];
	return NULL;
}

bool windows_is_marked(const struct window_mark *mark, const struct window_info *window)
{
	return !window->open && mark->first <= window->id && window->id <= mark->last;
}

size_t windows_n_closed(const struct windows *windows)
{
	size_t n = windows->n;

	while (n > 0 && windows->rows[n - 1].open)
		n--;
	return n;
}

uint64_t windows_samples(const struct windows *windows)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < windows->n; i++)
		samples += windows->rows[i].samples;
	return samples;
}

uint64_t windows_lost(const struct windows *windows)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < windows->n; i++)
		lost += windows->rows[i].lost;
	return lost;
}

uint64_t windows_end_us(const struct window_info *window)
{
	return window->start_us + window->length_us;
}

#define MIN_GAP_US 1000000

uint64_t windows_gap_us(const struct window_info *before, const struct window_info *after)
{
	uint64_t end_us = windows_end_us(before);

	if (after->start_us < end_us || after->start_us - end_us < MIN_GAP_US)
		return 0;
	return after->start_us - end_us;
}
