/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that lives 5 ms, and computes in a function named after it: NAME is a, b, ... With an
 * argument it runs exec on that, with the arguments that follow, when its time is over.
 */
#include <unistd.h>

#include "tests/live/spin.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define SPIN        JOIN(spin_, NAME)

void SPIN(void);
NOT_INLINED void SPIN(void)
{
	spin_us(5000);
}

int main(int argc, char **argv)
{
	SPIN();
	return argc > 1 ? execv(argv[1], argv + 1) : 0;
}
