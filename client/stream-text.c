/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stream-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/fit.h"
#include "common/util/cleanup.h"

/* "main demo.c:12", or where there is no line "main+0x12". */
static char *format_place(const struct place *place)
{
	const char *slash;
	char *text;

	if (!place->file)
		return place_format(place);
	slash = strrchr(place->file, '/');
	if (asprintf(&text, "%s %s:%" PRIu32, place->function ? place->function->name : "[unknown]",
		     slash ? slash + 1 : place->file, place->line) < 0)
		return NULL;
	return text;
}

/* Of the second place the part that is not as in the first. */
static const char *shorten(const struct place *from, const struct place *to, const char *text)
{
	if (!from->function || from->function != to->function || !from->file != !to->file)
		return text;
	return text + strlen(to->function->name) + (to->file ? 1 : 0);
}

/* Both within @width: the one that is short leaves its room to the other. */
static char *join(const char *first, const char *second, size_t width)
{
	const char *arrow = " -> ";
	size_t half = width > strlen(arrow) ? (width - strlen(arrow)) / 2 : 0;
	size_t n_first = strlen(first), n_second = strlen(second);
	_cleanup_free_ char *a = fit_name(first, half + (n_second < half ? half - n_second : 0));
	_cleanup_free_ char *b = fit_name(second, half + (n_first < half ? half - n_first : 0));
	char *text;

	return a && b && asprintf(&text, "%s%s%s", a, arrow, b) >= 0 ? text : NULL;
}

char *stream_text_step(const struct places *places, const struct view_stream_step *step,
		       size_t width)
{
	struct place from = place_find(places, step->from), to = place_find(places, step->to);
	_cleanup_free_ char *first = format_place(&from);
	_cleanup_free_ char *second = format_place(&to);

	return first && second ? join(first, shorten(&from, &to, second), width) : NULL;
}

const char *stream_text_loop(const struct view_stream_step *steps, size_t i, char *ret_turns)
{
	size_t first = i;

	ret_turns[0] = '\0';
	while (first > 0 && steps[first].n_turns == 0)
		first--;
	if (steps[first].n_turns == 0 || i - first >= steps[first].n_loop)
		return "";
	if (i - first + 1 == steps[first].n_loop)
		snprintf(ret_turns, STREAM_TEXT_TURNS, " (%" PRIu32 " times)",
			 steps[first].n_turns);
	return "| ";
}
