/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much a share that was counted may be trusted: between what limits the true one lies.
 */
#pragma once

#include <stdint.h>

struct interval {
	double low, high; /* shares, 0 to 1 */
};

/*
 * Of @n events the part @share were so: Wilson's score interval, which stays within 0 and 1 and is
 * right for few events, too (J. Am. Statist. Ass. 22, 1927). @z says how sure: how far from its
 * mean a normal variable is that seldom. 0 to 1 for no events.
 */
struct interval interval_wilson(double share, double n, double z);

/* The same of @k of @n, at 95 %. */
struct interval interval_of_share(uint64_t k, uint64_t n);
