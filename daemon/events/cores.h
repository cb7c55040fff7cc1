/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The PMUs of CPUs, which alone count what a CPU's code does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the PMU of events of @type (perf_event_attr.type) is one of CPUs: it is named "cpu" or
 * lists its CPUs; other PMUs have a mask of them, or nothing. @root: "", or that of a test.
 */
bool cores_have(const char *root, uint32_t type);
