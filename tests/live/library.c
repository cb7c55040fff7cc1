/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that computes in a function named after itself: NAME is "one", "two". */
#include "tests/live/spin.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define SPIN        JOIN(spin_, NAME)

void SPIN(uint64_t us);
NOT_INLINED void SPIN(uint64_t us)
{
	spin_us(us);
}

void spin(uint64_t us);
void spin(uint64_t us)
{
	SPIN(us);
	HERE;
}
