/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/color.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int color_parse(enum color_mode *ret, const char *word)
{
	if (strcmp(word, "auto") == 0)
		*ret = COLOR_AUTO;
	else if (strcmp(word, "always") == 0)
		*ret = COLOR_ALWAYS;
	else if (strcmp(word, "never") == 0)
		*ret = COLOR_NEVER;
	else
		return -EINVAL;
	return 0;
}

bool color_wanted(enum color_mode mode, bool is_terminal)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (mode != COLOR_AUTO)
		return mode == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return is_terminal && term && strcmp(term, "dumb") != 0;
}
