/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spends its time in functions of libc that have exported names: libc-user SECONDS. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	unsigned int sum = 0;

	while (time(NULL) < end)
		for (unsigned int i = 0; i < 100000; i++)
			sum += (unsigned int)rand();
	return sum == 1;
}
