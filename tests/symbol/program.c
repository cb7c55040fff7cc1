/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program whose functions and lines the tests ask for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int library_sum(int a, int b);
int library_calls_back(int (*function)(int), int x);
extern int assembled(int x);

static inline __attribute__((always_inline)) int innermost(int x)
{
	return x * 7 + (int)strtol("1", NULL, 10);
}

static inline __attribute__((always_inline)) int inlined(int x)
{
	int y = 0;

	for (int i = 0; i < x; i++)
		y += innermost(i);
	return y;
}

__attribute__((noinline)) static int local_function(int x)
{
	return inlined(x) + inlined(x + 1);
}

__attribute__((noinline)) int global_function(int x)
{
	return local_function(x) * 3;
}

__attribute__((weak, alias("global_function"))) int weak_alias(int x);
extern int __underscored_alias(int x) __attribute__((alias("global_function")));

__attribute__((noinline, cold)) static void give_up(const char *why)
{
	fputs(why, stderr);
	exit(1);
}

__attribute__((noinline)) int with_a_cold_part(int x)
{
	if (x > 1000)
		give_up("too large");
	if (__builtin_expect(x > 900, 0)) {
		puts("large");
		abort();
	}
	return x + 1;
}

static int one(int x)
{
	return x + 1;
}

static int two(int x)
{
	return x + 2;
}

static int (*resolve_chosen(void))(int)
{
	return getenv("TWO") ? two : one;
}

int chosen(int x) __attribute__((ifunc("resolve_chosen")));

int main(int argc, char **argv)
{
	int (*volatile keeps_its_address)(const char *) = puts;
	char buffer[64];

	keeps_its_address("hello");
	memset(buffer, argc, sizeof(buffer));
	snprintf(buffer, sizeof(buffer), "%d", global_function(argc));
	return with_a_cold_part((int)strlen(buffer)) + chosen(argc) + weak_alias(1) +
	       __underscored_alias(2) + library_sum(argc, 2) +
	       library_calls_back(global_function, argc) + assembled(argc) - (int)cos(argc);
}
