/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers of the fields of pprof's messages. */
#pragma once

enum pprof_profile_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE,
	PPROF_MAPPING,
	PPROF_LOCATION,
	PPROF_FUNCTION,
	PPROF_STRING_TABLE,
	PPROF_TIME_NANOS = 9,
	PPROF_DURATION_NANOS,
	PPROF_PERIOD_TYPE,
	PPROF_PERIOD,
	PPROF_COMMENT,
	PPROF_DEFAULT_SAMPLE_TYPE,
};

enum pprof_sample_field {
	PPROF_SAMPLE_LOCATION_ID = 1,
	PPROF_SAMPLE_VALUE,
	PPROF_SAMPLE_LABEL,
};

enum pprof_label_field {
	PPROF_LABEL_KEY = 1,
	PPROF_LABEL_STR,
	PPROF_LABEL_NUM,
};

/* Those that only pprof has; all others: place-tables.c. */
enum pprof_mapping_field {
	PPROF_MAPPING_BUILD_ID = 6,
	PPROF_MAPPING_HAS_FUNCTIONS,
	PPROF_MAPPING_HAS_FILENAMES,
	PPROF_MAPPING_HAS_LINE_NUMBERS,
	PPROF_MAPPING_HAS_INLINE_FRAMES,
};
