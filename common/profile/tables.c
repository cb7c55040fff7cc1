/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/tables.h"

#include <stdio.h>
#include <string.h>

static const char *const names[N_PROFILE_TABLES] = {
	[PROFILE_STACKS] = "stacks",
	[PROFILE_STREAMS] = "streams",
	[PROFILE_BRANCHES] = "branches",
	[PROFILE_BLOCKS] = "blocks",
};

static bool parse_word(unsigned int *tables, const char *word, size_t n)
{
	for (unsigned int i = 0; i < N_PROFILE_TABLES; i++)
		if (strlen(names[i]) == n && memcmp(word, names[i], n) == 0) {
			*tables |= PROFILE_TABLE(i);
			return true;
		}
	return false;
}

bool profile_tables_parse(unsigned int *ret, const char *list)
{
	unsigned int tables = 0;

	for (const char *end;; list = end + 1) {
		end = strchrnul(list, ',');
		if (!parse_word(&tables, list, (size_t)(end - list)))
			return false;
		if (*end == '\0')
			break;
	}
	*ret = tables;
	return true;
}

void profile_tables_format(char text[PROFILE_TABLES_TEXT_MAX], unsigned int tables)
{
	size_t n = 0;

	*text = '\0';
	for (unsigned int i = 0; i < N_PROFILE_TABLES; i++)
		if (tables & PROFILE_TABLE(i))
			n += (size_t)snprintf(text + n, PROFILE_TABLES_TEXT_MAX - n, "%s%s",
					      n > 0 ? "," : "", names[i]);
}

void profile_drop_tables(struct profile *profile, unsigned int tables)
{
	if (tables & PROFILE_TABLE(PROFILE_STACKS))
		profile->n_stacks = profile->n_places = 0;
	if (tables & PROFILE_TABLE(PROFILE_STREAMS))
		profile->n_streams = 0;
	if (tables & PROFILE_TABLE(PROFILE_BRANCHES))
		profile->n_branches = 0;
	if (tables & PROFILE_TABLE(PROFILE_BLOCKS))
		profile->n_blocks = 0;
}
