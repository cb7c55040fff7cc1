/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is counted to take samples, in perf's words: "cycles", "branch-misses:pp", "r1c4",
 * "cpu/event=0xc4,umask=0x4/". Whether the machine has it is found later: see event-attr.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define EVENT_SPEC_MAX 64 /* bytes of its text */

enum event_spec_kind {
	EVENT_SPEC_CYCLES,
	EVENT_SPEC_TAKEN_BRANCHES, /* as they retire: "branches" */
	EVENT_SPEC_GENERIC,        /* another one that the kernel knows by name */
	EVENT_SPEC_RAW,            /* a code of the processor: type and config */
	EVENT_SPEC_TERMS,          /* fields of a PMU */
};

/* All zero: cycles. */
struct event_spec {
	enum event_spec_kind kind;
	char text[EVENT_SPEC_MAX]; /* as written; "": cycles */
	uint32_t type;             /* PERF_TYPE_*, of EVENT_SPEC_GENERIC and EVENT_SPEC_RAW */
	uint32_t cycles; /* of a busy CPU for each event, roughly; 0: as EVENT_SPEC_CYCLES */
	uint64_t config;
	uint8_t precise; /* perf_event_attr.precise_ip */
};

/* 0; or -EINVAL with *@ret untouched. All bytes of *@ret are set, so that memcmp() compares. */
int event_spec_parse(const char *text, struct event_spec *ret);

/* As written, or "cycles". */
const char *event_spec_text(const struct event_spec *spec);

/* Whether it was asked for by name: it may not be replaced by another one. */
bool event_spec_is_chosen(const struct event_spec *spec);

/* Whether the kernel counts it itself, without a PMU and so without branch records. */
bool event_spec_is_software(const struct event_spec *spec);
