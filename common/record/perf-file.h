/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shapes in a perf.data file: its header, its sections, and the records that perf itself
 * writes. From tools/perf/Documentation/perf.data-file-format.txt.
 */
#pragma once

#include <stdint.h>

#include <linux/perf_event.h>

#define PERF_FILE_MAGIC_2         0x32454c4946524550ull /* "PERFILE2" */
#define PERF_FILE_MAGIC_1         0x454c494646524550ull /* "PERFFILE": before 2010 */
#define PERF_FILE_MAGIC_2_SWAPPED 0x50455246494c4532ull /* of a big-endian machine */
#define PERF_FILE_MAGIC_1_SWAPPED 0x5045524646494c45ull

struct perf_file_section {
	uint64_t offset, n_bytes;
};

struct perf_file_header {
	uint64_t magic;
	uint64_t n_bytes; /* of this header; in pipe mode it ends here: 16 */
	uint64_t attr_bytes;
	struct perf_file_section attrs, data, event_types;
	uint64_t features[4]; /* a bit for each feature section after the data */
};

#define PERF_PIPE_HEADER_BYTES 16

enum perf_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_PMU_CAPS = 31,
	N_FEATURES = 256,
};

/* Types of the records that perf writes into the stream of the kernel's. */
enum perf_record {
	RECORD_HEADER_ATTR = 64,
	RECORD_TRACING_DATA = 66, /* followed by as many bytes as it says, padded to 8 */
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71, /* followed by as many bytes as it says */
	RECORD_EVENT_UPDATE = 78,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
	RECORD_LAST_KNOWN = 84, /* BPF_METADATA; those left out above have no samples */
};

#define EVENT_UPDATE_NAME 2
