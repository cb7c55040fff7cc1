/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/every.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/options/value.h"
#include "client/source/time-span.h"

#define DEFAULT_US 5000000
#define MIN_US     100000

/* As in systemd.time(7) a number alone is of seconds. */
static bool is_number(const char *word)
{
	return *word && word[strspn(word, "0123456789.")] == '\0';
}

int options_parse_every(const char *argument, uint64_t *ret_us, struct fault *fault)
{
	const char *text = argument;
	struct fault ignored;
	char seconds[32];

	*ret_us = DEFAULT_US;
	if (!argument)
		return 0;
	if (is_number(argument)) {
		snprintf(seconds, sizeof(seconds), "%ss", argument);
		text = seconds;
	}
	if (options_parse_span("--every", text, ret_us, &ignored) >= 0 && *ret_us >= MIN_US)
		return 0;
	return options_wrong(fault, "--every", argument,
			     "a span of at least 100ms, as in --every=3 or --every=500ms");
}

int options_check_every_word(const char *word, struct fault *fault)
{
	const char *end = word;
	uint64_t us;

	if (!is_number(word) && (!time_span_take(&end, &us) || *end))
		return 0;
	return fault_set(fault, -EINVAL, "the span of --every follows '=': write --every=%s", word);
}

int options_check_every(const struct options *options, struct fault *fault)
{
	const struct profile_source_settings *source = &options->source;

	if (options->every_us == 0)
		return 0;
	if (options->once || options->host_list)
		return fault_set(fault, -EINVAL, "give either %s or --every",
				 options->once ? "--once" : "--host-list");
	if (source->window || source->since_us > 0 || source->until_us > 0)
		return fault_set(fault, -EINVAL,
				 "--every reports what is sampled from now on: leave out %s",
				 source->window               ?:
					 source->since_us > 0 ? "--since" :
								"--until");
	return 0;
}
