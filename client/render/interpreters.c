/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/interpreters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/term/text.h"
#include "client/term/wrap.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

#define MIN_PERCENT 10.0

/* The function in which it runs programs, and how to start it so that it names theirs. */
static const struct interpreter {
	const char *symbol, *language, *command;
} interpreters[] = {
	{ "_PyEval_EvalFrameDefault", "Python", "python3 -X perf (Python 3.12 or newer)" },
	{ "Builtins_InterpreterEntryTrampoline", "JavaScript", "node --perf-basic-prof" },
};

static double percent_in(const struct top *top, const struct interpreter *interpreter)
{
	uint64_t total = 0;

	for (size_t i = 0; i < top->n_rows; i++) {
		const struct share *row = &top->shares->rows[i];

		if (row->key.symbol && strcmp(row->key.symbol, interpreter->symbol) == 0)
			total += row->total;
	}
	return percent_of(total, top->source->shown->counters.samples);
}

/* Code that a program made while it ran, and named. */
static bool names_its_code(const struct top *top)
{
	const struct profile *profile = top->source->shown;

	for (size_t i = 0; i < top->n_rows; i++) {
		const struct share_key *key = &top->shares->rows[i].key;

		if (key->symbol && key->object != PROFILE_NONE &&
		    profile->objects[key->object].kind == OBJECT_MEMORY)
			return true;
	}
	return false;
}

int interpreters_write(const struct top *top, struct output *output)
{
	if (top->by != VIEW_FUNCTION || top->owner || !top->shares || top->mispredicted ||
	    names_its_code(top))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		double percent = percent_in(top, &interpreters[i]);
		_cleanup_free_ char *text = NULL;

		if (percent < MIN_PERCENT)
			continue;
		if (asprintf(&text,
			     "%.1f %% of the samples are in the interpreter of %s: started as %s, "
			     "it "
			     "names the functions of its programs\n",
			     percent, interpreters[i].language, interpreters[i].command) < 0) {
			text = NULL;
			return -ENOMEM;
		}
		wrap_write(output->f, text, output->width, 2);
	}
	return 0;
}
