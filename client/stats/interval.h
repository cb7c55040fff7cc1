/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Confidence intervals of a counted share. */
#pragma once

#include <stdint.h>

struct interval {
	double low, high; /* shares, 0 to 1 */
};

/*
 * Wilson's score interval of @share in @n events: it stays within 0 and 1 and holds for few events,
 * too (J. Am. Statist. Ass. 22, 1927). @z is the limit of a normal variable at the wanted
 * confidence. Without events: 0 to 1.
 */
struct interval interval_wilson(double share, double n, double z);

/* The same of @k in @n, at 95 %, where @unit counts are one independent event. */
struct interval interval_of_estimate(uint64_t k, uint64_t n, double unit);
