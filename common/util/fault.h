/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong with an input, in one line for the person who gave it: what, where, what to do.
 * A function that reads input returns a negative errno and fills the fault; only main() prints it.
 */
#pragma once

#include <stdint.h>

#include "common/util/macro.h"

struct fault {
	char text[512]; /* no newline at its end; empty where nothing is wrong */
};

/* Writes the line and returns @r, so that one can `return fault_set(fault, -EINVAL, ...)`. */
int fault_set(struct fault *fault, int r, const char *format, ...) _printf_(3, 4);
