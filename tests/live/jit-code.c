/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs code of its own in anonymous memory: jit-code SECONDS. Prints PID START SIZE first, then
 * waits for a line, so that whoever started it can write its perf-PID.map, or something else in
 * that place. Prints another line when it has run, and waits once more.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEMORY 4096

/* Counts down from its argument. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0xff, 0xcf, /* 1: dec %rdi */
	0x75, 0xfb,       /* jne 1b */
	0x5d,             /* pop %rbp */
	0xc3,             /* ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, /* 1: subs x0, x0, #1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne 1b */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	void (*count_down)(uint64_t n);
	char line[16];
	void *memory =
		mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || sizeof(code) == 0)
		return EXIT_FAILURE;
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	if (mprotect(memory, MEMORY, PROT_READ | PROT_EXEC) < 0)
		return EXIT_FAILURE;
	printf("%d %jx %zx\n", getpid(), (uintmax_t)(uintptr_t)memory, sizeof(code));
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return EXIT_FAILURE;
	memcpy(&count_down, &memory, sizeof(memory));
	while (now() < seconds)
		count_down(1000000);
	puts("done");
	fflush(stdout);
	/* the map is read while the process lives */
	return fgets(line, sizeof(line), stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
}
