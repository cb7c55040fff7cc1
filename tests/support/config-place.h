/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directories of configuration files, and what is loaded from them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/macro.h"
#include "daemon/config.h"

/* Two directories, of which the first comes first, as /etc and /usr/lib do. */
struct config_place {
	char root[32];
	char directories[2][64];
	char warnings[2048];
	unsigned int n_warnings;
	struct config config;
	struct fault fault;
};

static inline void config_place_init(struct config_place *place)
{
	*place = (struct config_place){ .root = "/tmp/test-config-XXXXXX" };
	assert_non_null(mkdtemp(place->root));
	for (int i = 0; i < 2; i++) {
		char drop_ins[128];

		snprintf(place->directories[i], sizeof(place->directories[i]), "%s/%c", place->root,
			 'a' + i);
		snprintf(drop_ins, sizeof(drop_ins), "%s/x.conf.d", place->directories[i]);
		assert_int_equal(mkdir(place->directories[i], 0700), 0);
		assert_int_equal(mkdir(drop_ins, 0700), 0);
	}
}

static inline void config_place_done(struct config_place *place)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", place->root);
	assert_int_equal(system(command), 0); /* NOLINT: the path is this test's */
}

static inline void config_place_put_bytes(struct config_place *place, const char *path,
					  const char *bytes, size_t n)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", place->root, path);
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static inline void config_place_put(struct config_place *place, const char *path, const char *text)
{
	config_place_put_bytes(place, path, text, strlen(text));
}

static inline void config_place_on_warning(const char *text, void *userdata)
{
	struct config_place *place = userdata;
	size_t n = strlen(place->warnings);

	place->n_warnings++;
	snprintf(place->warnings + n, sizeof(place->warnings) - n, "%s\n",
		 text + strlen(place->root));
}

static inline int config_place_load(struct config_place *place)
{
	const char *directories[] = { place->directories[0], place->directories[1] };
	const struct config_files files = { directories, 2, "x.conf" };

	place->warnings[0] = '\0';
	place->n_warnings = 0;
	place->fault.text[0] = '\0';
	return config_load(&place->config, &files, config_place_on_warning, place, &place->fault);
}

static inline void assert_config_defaults(const struct config *config)
{
	struct config defaults;

	config_init(&defaults);
	assert_memory_equal(config, &defaults, sizeof(defaults));
}
