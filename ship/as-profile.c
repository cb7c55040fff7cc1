/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/as-profile.h"

#include <errno.h>
#include <string.h>

#include "client/export/export.h"
#include "client/source/profile-source.h"
#include "common/util/cleanup.h"

static int fill(struct profile_source *source, struct profile *profile,
		const struct window_info *window, const char *host)
{
	int r = 0;

	profile->info.hostname = profile_string(profile, host, &r);
	source->profile = profile;
	source->all = source->shown = profile;
	source->name = strdup(host);
	if (r < 0 || !source->name)
		return -ENOMEM;
	return windows_add(&source->windows, window);
}

int as_profile_write(struct profile *profile, const struct window_info *window, const char *host,
		     enum format format, FILE *f)
{
	const struct symbolizer_settings symbols = {};
	struct export_settings settings = { .format = export_find_format(format_name(format)) };
	struct profile_source *source;
	struct fault fault;
	int r;

	if (profile->counters.samples == 0)
		return 0;
	r = profile_source_new(&source, &symbols);
	if (r < 0)
		return r;
	r = fill(source, profile, window, host);
	settings.source = source;
	r = r < 0 ? r : export_write(&settings, f, &fault);
	source->profile = NULL; /* the caller's */
	profile_source_free(source);
	return r;
}
