/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/stream-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/elide.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* A place as two words: "main" and " demo.c:12"; without line "main+0x12" and "". */
struct words {
	char *name, *line;
};

static void words_done(struct words *words)
{
	free(words->name);
	free(words->line);
}

static int words_init(struct words *words, const struct place *place)
{
	const char *slash;

	*words = (struct words){};
	if (!place->file) {
		words->name = place_format(place);
		words->line = strdup("");
		return words->name && words->line ? 0 : -ENOMEM;
	}
	slash = strrchr(place->file, '/');
	words->name = strdup(place->function ? place->function->name : "[unknown]");
	if (asprintf(&words->line, " %s:%" PRIu32, slash ? slash + 1 : place->file, place->line) <
	    0)
		words->line = NULL;
	return words->name && words->line ? 0 : -ENOMEM;
}

static size_t words_length(const struct words *words)
{
	return strlen(words->name) + strlen(words->line);
}

/* Leaves out what the second place has in common with the first. */
static void shorten(const struct place *from, const struct place *to, struct words *words)
{
	size_t n;

	if (!from->function || from->function != to->function || !from->file != !to->file)
		return;
	n = to->file ? strlen(words->name) : strlen(to->function->name);
	memmove(words->name, words->name + n, strlen(words->name + n) + 1);
	if (to->file)
		memmove(words->line, words->line + 1, strlen(words->line));
}

/* Keeps the end of a long line; the name takes the remaining room. */
static char *fit(const struct words *words, size_t room)
{
	_cleanup_free_ char *line = elide_path(words->line, room / 3 * 2);
	_cleanup_free_ char *name =
		line ? elide_name(words->name, room - MIN(room, strlen(line))) : NULL;
	char *text;

	return name && asprintf(&text, "%s%s", name, line) >= 0 ? text : NULL;
}

/* Both within @width: the shorter one leaves its room to the other. */
static char *join(const struct words *first, const struct words *second, size_t width)
{
	const char *arrow = " -> ";
	size_t half = width > strlen(arrow) ? (width - strlen(arrow)) / 2 : 0;
	size_t n_first = words_length(first), n_second = words_length(second);
	_cleanup_free_ char *a = fit(first, half + (n_second < half ? half - n_second : 0));
	_cleanup_free_ char *b = fit(second, half + (n_first < half ? half - n_first : 0));
	char *text;

	return a && b && asprintf(&text, "%s%s%s", a, arrow, b) >= 0 ? text : NULL;
}

char *stream_text_step(const struct places *places, const struct view_stream_step *step,
		       size_t width)
{
	struct place from = place_find(places, step->from), to = place_find(places, step->to);
	_cleanup_(words_done) struct words first = {};
	_cleanup_(words_done) struct words second = {};

	if (words_init(&first, &from) < 0 || words_init(&second, &to) < 0)
		return NULL;
	shorten(&from, &to, &second);
	return join(&first, &second, width);
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

static int write_step(const struct places *places, struct output *output,
		      const struct view_stream_step *steps, size_t i)
{
	char turns[STREAM_TEXT_TURNS];
	const char *loop = stream_text_loop(steps, i, turns);
	size_t n_around = strlen("    ") + strlen(loop) + strlen(turns);
	_cleanup_free_ char *text = stream_text_step(
		places, &steps[i], output->width > n_around ? output->width - n_around : SIZE_MAX);

	if (!text)
		return -ENOMEM;
	fprintf(output->f, "    %s", loop);
	text_write(output->f, text);
	fprintf(output->f, "%s\n", turns);
	return 0;
}

int stream_text_write(const struct places *places, struct output *output,
		      const struct view_streams *streams, const struct view_stream *stream)
{
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];
	size_t n = view_stream_path(streams, stream->node, steps);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = write_step(places, output, steps, i);
	if (r >= 0 && stream->pruned > 0)
		fprintf(output->f, "    ... %" PRIu64 " hit%s by longer, pruned paths\n",
			stream->pruned, text_plural(stream->pruned));
	return r;
}
