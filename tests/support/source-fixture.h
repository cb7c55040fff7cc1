/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of diffs: letting go of a source that was made by hand. */
#pragma once

#include <stdlib.h>

#include "client/source/profile-source.h"

static inline void source_fixture_done(struct profile_source *source)
{
	for (size_t i = 0; i < source->n_parts; i++)
		profile_free(source->parts[i].shown);
	free(source->parts);
	profile_free(source->profile);
	symbolizer_free(source->symbolizer);
	free(source->name);
}
