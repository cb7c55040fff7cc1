/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

int library_sum(int a, int b);
int library_calls_back(int (*function)(int), int x);

__attribute__((noinline)) int library_sum(int a, int b)
{
	return a + b + (int)labs(a);
}

/* through the procedure linkage table, for another library may take its place */
int library_calls_back(int (*function)(int), int x)
{
	char *text = strdup("text");
	int n = (int)strlen(text);

	free(text);
	return library_sum(function(x), n);
}
