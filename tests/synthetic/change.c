/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/synthetic/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

#define N_FUNCTIONS    20u
#define FUNCTION_BYTES 256u
#define RUN            3u   /* samples in a row are of one function */
#define BEFORE         100u /* the hot function's share, in thousandths */
#define AFTER          130u

static void check(int64_t r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", strerror((int)-r));
	exit(1);
}

static void add_names(struct profile *p)
{
	struct profile_object object = { .path = "/usr/bin/steady", .n_build_id = 20, .inode = 4 };
	struct profile_process process = { .pid = 1000,
					   .comm = "steady",
					   .executable = object.path,
					   .uid = 1000,
					   .samples = p->counters.samples };

	object.build_id[0] = 1;
	check(profile_add_object(p, &object));
	check(profile_add_process(p, &process));
}

static void add_function(struct profile *p, uint32_t number, uint64_t samples)
{
	struct profile_function function = { .start = 0x1000 + number * FUNCTION_BYTES,
					     .size = FUNCTION_BYTES };
	struct profile_stack stack = {
		.parent = PROFILE_NONE,
		.frame = { 0, function.start },
		.samples = samples,
		.weight = samples,
	};
	char name[32];

	snprintf(name, sizeof(name), "function_%u", number);
	function.name = name;
	check(profile_add_function(p, &function));
	check(profile_add_stack(p, &stack));
}

struct profile *synthetic_change_profile(const struct synthetic_change *change, uint32_t window)
{
	uint64_t state = (change->seed * 1000003 + window + 1) * 0x9e3779b97f4a7c15ull;
	uint32_t share = change->at > 0 && window >= change->at ? AFTER : BEFORE;
	uint32_t n_rare = change->crowded ? SYNTHETIC_CHANGE_RARE : 0;
	uint64_t samples[N_FUNCTIONS] = { 0 };
	struct profile *p = NULL;
	int r;

	for (uint32_t i = 0; i < SYNTHETIC_CHANGE_SAMPLES / RUN; i++)
		samples[random_below(&state, 1000) < share ?
				0 :
				1 + random_below(&state, N_FUNCTIONS - 1)] += RUN;
	check(profile_new(&p));
	p->info.mode = profile_string(p, "software", &r);
	p->info.event = profile_string(p, "cpu-clock", &r);
	p->info.hostname = profile_string(p, "a-machine", &r);
	p->counters.samples = SYNTHETIC_CHANGE_SAMPLES + n_rare * RUN;
	add_names(p);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		add_function(p, i, samples[i]);
	for (uint32_t i = 0; i < n_rare; i++)
		add_function(p, N_FUNCTIONS + window * n_rare + i, RUN);
	check(profile_finalize(p));
	return p;
}
