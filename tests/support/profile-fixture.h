/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For tests of views: a profile built row by row. Indices are void once it is finalized.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/profile.h"

static inline uint32_t fixture_index(int64_t r)
{
	assert_true(r >= 0);
	return (uint32_t)r;
}

static inline struct profile *fixture_new(void)
{
	struct profile *profile;

	assert_int_equal(profile_new(&profile), 0);
	return profile;
}

/* @build_id: its first byte; 0: none. */
static inline uint32_t fixture_object(struct profile *profile, const char *path, uint8_t build_id)
{
	return fixture_index(profile_add_object(profile, &(struct profile_object){
								 .kind = OBJECT_FILE,
								 .path = path,
								 .build_id = { build_id },
								 .n_build_id = build_id ? 20 : 0,
							 }));
}

static inline uint32_t fixture_process(struct profile *profile, const char *comm,
				       const char *executable)
{
	return fixture_index(
		profile_add_process(profile, &(struct profile_process){
						     .pid = 1 + (int32_t)profile->n_processes,
						     .comm = comm,
						     .executable = executable,
						     .uid = UINT32_MAX,
					     }));
}

/* Of 256 bytes. */
static inline void fixture_function(struct profile *profile, uint32_t object, uint64_t start,
				    const char *name)
{
	fixture_index(profile_add_function(profile, &(struct profile_function){
							    .object = object,
							    .start = start,
							    .size = 0x100,
							    .name = name,
						    }));
}

static inline uint32_t fixture_stack(struct profile *profile, uint32_t process, uint32_t parent,
				     uint32_t object, uint64_t offset, uint64_t samples)
{
	profile->counters.samples += samples;
	return fixture_index(profile_add_stack(profile, &(struct profile_stack){
								.process = process,
								.parent = parent,
								.frame = { object, offset },
								.samples = samples,
								.weight = samples,
							}));
}

static inline struct profile *fixture_finalized(struct profile *profile)
{
	assert_int_equal(profile_finalize(profile), 0);
	return profile;
}
