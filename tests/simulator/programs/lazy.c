/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazy: functions of libc by the stubs of the procedure linkage table: each bound at its first
 * call, and then through the stub alone. */
#include <string.h>

#include "sampled.h"
#include "work.h"

static _noinline_ uint32_t once(const char *text)
{
	uint32_t n = (uint32_t)atoi(text);

	n += (uint32_t)labs(-(long)n);
	return n + (uint32_t)strlen(text);
}

int main(int argc, char **argv)
{
	uint32_t n = 1;

	sample_as("sampled");
	n += once("12");
	n += once("34");
	sample_no_more();
	return n == 0;
}
