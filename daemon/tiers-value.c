/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/tiers-value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config/value.h"

#define MIN_LENGTH_US 1000000ULL
#define MAX_LENGTH_US (24 * 3600000000ULL)

/* "LENGTH:TIME" */
static int parse_tier(char *word, struct store_tier *ret)
{
	char *colon = strchr(word, ':');
	int r;

	if (!colon)
		return -EINVAL;
	*colon = '\0';
	r = config_value_span_us(word, &ret->length_us);
	if (r == 0)
		r = config_value_span_us(colon + 1, &ret->keep_us);
	if (r < 0)
		return r;
	if (ret->length_us < MIN_LENGTH_US || ret->length_us > MAX_LENGTH_US ||
	    ret->keep_us < ret->length_us || ret->keep_us > TIERS_VALUE_MAX_US)
		return -ERANGE;
	return 0;
}

int tiers_value_parse(const char *text, struct store_tiers *ret)
{
	struct store_tiers tiers = { .n = 0 };
	char copy[256], *rest = copy, *word;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return -ERANGE;
	while ((word = strtok_r(rest, " \t", &rest))) {
		struct store_tier *tier = &tiers.rows[tiers.n];
		int r;

		if (tiers.n == STORE_MAX_TIERS)
			return -ERANGE;
		r = parse_tier(word, tier);
		if (r < 0)
			return r;
		if (tiers.n > 0 &&
		    (tier->length_us <= tier[-1].length_us || tier->keep_us < tier[-1].keep_us))
			return -ERANGE;
		tiers.n++;
	}
	if (tiers.n == 0)
		return -EINVAL;
	if (tiers.rows[0].length_us > 3600000000ULL)
		return -ERANGE;
	*ret = tiers;
	return 0;
}
