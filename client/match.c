/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/match.h"

#include <string.h>

/* Is @text @word, or @word followed by @rest? */
static bool is_word_before(const char *text, const char *word, const char *rest)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 && (text[n] == '\0' || strcmp(text + n, rest) == 0);
}

bool match_process(const struct profile_filter *filter, const struct profile_process *process)
{
	if (filter->pid >= 0 && filter->pid != process->pid)
		return false;
	if (filter->uid >= 0 && filter->uid != process->uid)
		return false;
	if (filter->comm && strcmp(filter->comm, process->comm) != 0)
		return false;
	return !filter->unit ||
	       (process->unit && is_word_before(process->unit, filter->unit, ".service"));
}

bool match_object(const struct profile_filter *filter, const struct profile_object *object)
{
	const char *slash;

	if (!filter->object)
		return true;
	if (!object || !object->path)
		return false;
	slash = strrchr(object->path, '/');
	return strcmp(object->path, filter->object) == 0 ||
	       (slash && strcmp(slash + 1, filter->object) == 0);
}

bool match_symbol(const struct profile_filter *filter, const char *symbol)
{
	size_t n;

	if (!filter->symbol)
		return true;
	if (!symbol)
		return false;
	n = strlen(filter->symbol);
	return strncmp(symbol, filter->symbol, n) == 0 && (symbol[n] == '\0' || symbol[n] == '(');
}
