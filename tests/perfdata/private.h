/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the three files of perfdata share: the file's buffer, the record being composed, the
 * features' blobs. */
#pragma once

#include "tests/perfdata/perfdata.h"

#define PERFDATA_BUFFER_BYTES     (1024 * 1024)
#define PERFDATA_RECORD_BYTES_MAX UINT16_MAX

struct blob {
	char *data;
	size_t size;
	size_t allocated;
	bool present;
};

struct perfdata {
	int fd;
	unsigned flags;
	int error; /* the first there was, negative errno */
	bool features_done;
	struct perf_event_attr *attrs;
	size_t n_attrs;
	uint64_t data_offset;
	uint64_t data_size;
	size_t n_buffered;
	size_t n_record;
	struct blob features[PERFDATA_LAST_FEATURE];
	_Alignas(8) char record[PERFDATA_RECORD_BYTES_MAX + 8];
	char buffer[PERFDATA_BUFFER_BYTES];
};

void perfdata_fail(struct perfdata *p, int error);
/* Appends bytes to the file, whatever they are. */
void perfdata_write(struct perfdata *p, const void *data, size_t size);

/* A record is begun, filled and ended; record_write() ends one that may come before the features
 * are through. */
void record_begin(struct perfdata *p, uint32_t type, uint16_t misc);
void record_put(struct perfdata *p, const void *data, size_t size);
void record_put_u32(struct perfdata *p, uint32_t value);
void record_put_u64(struct perfdata *p, uint64_t value);
void record_put_string(struct perfdata *p, const char *text);
void record_write(struct perfdata *p);
void record_end(struct perfdata *p);

void perfdata_set_own_features(struct perfdata *p, const struct perfdata_event *events);
/* In a pipe: says, once, that no features follow. */
void perfdata_end_features(struct perfdata *p);
void perfdata_free_features(struct perfdata *p);
