/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/service-options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>

enum {
	KEY_HELP = 256, /* behind all characters, of which '?' is an error */
	KEY_VERSION,
	KEY_FIRST, /* the first one's own */
};

static void make_table(struct option *ret, const struct service_options *options)
{
	assert(options->n <= SERVICE_OPTIONS_MAX);
	for (size_t i = 0; i < options->n; i++)
		*ret++ = (struct option){
			.name = options->options[i].name,
			.has_arg = options->options[i].text ? required_argument : no_argument,
			.val = KEY_FIRST + (int)i,
		};
	*ret++ = (struct option){ .name = "help", .val = KEY_HELP };
	*ret++ = (struct option){ .name = "version", .val = KEY_VERSION };
	*ret = (struct option){};
}

int service_options_read(const struct service_options *options, int argc, char **argv)
{
	struct option table[SERVICE_OPTIONS_MAX + 3];
	const struct service_option *option;
	int key;

	make_table(table, options);
	while ((key = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		if (key == KEY_HELP)
			fputs(options->usage, stdout);
		else if (key == KEY_VERSION)
			printf("%s %s\n", options->program, options->version);
		if (key < KEY_FIRST)
			return key < KEY_HELP ? -1 : 0; /* getopt has reported it */
		option = &options->options[key - KEY_FIRST];
		if (option->text)
			*option->text = optarg;
		else
			*option->flag = true;
	}
	if (optind == argc)
		return 1;
	fprintf(stderr, "%s: unexpected argument: %s\n", options->program, argv[optind]);
	return -1;
}
