/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles as files of other tools: the table of formats, and what each needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/export/writers.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"

struct export_format {
	const char *name;
	const char *what;    /* for the help */
	bool needs_branches; /* branch records; else samples */
	bool is_binary;      /* nothing for a terminal */
	int (*write)(const struct export_input *input, FILE *f);
};

extern const struct export_format export_formats[];
extern const size_t n_export_formats;

/* NULL: there is none with that name. */
const struct export_format *export_find_format(const char *name);

/* The tables of a profile that it needs, see tables.h. */
unsigned int export_tables(const struct export_format *format);

/* -ENODATA and @fault if the source has not what the format needs. */
int export_check(const struct export_format *format, const struct profile_source *source,
		 struct fault *fault);

/* -EINVAL and @fault if @path, NULL for none, is the recording that is read. */
int export_check_output(const char *path, const struct profile_source *source, struct fault *fault);

/* A line for the user where rare branches or runs are missing in what was written. */
void export_say(const struct export_format *format, const struct profile_source *source, FILE *f);

struct export_settings {
	const struct export_format *format;
	const struct profile_source *source;
	const struct profile_source *older; /* of a format with differences; NULL: none */
	const char *object; /* as in a filter: the file, of formats that are about one; NULL: any */
	bool lines;         /* with source lines */
};

/* Writes what the source shows, or how it differs from the older one. -errno and @fault; errors of
 * @f are left to the caller. */
int export_write(const struct export_settings *settings, FILE *f, struct fault *fault);
