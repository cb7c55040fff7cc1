/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For other processors, without any library; linked twice, once as the library it calls. */
int far_one(int x);
int far_two(int x);
void _start(void);

#ifdef LIBRARY
int far_one(int x)
{
	return x + 1;
}

int far_two(int x)
{
	return x + 2;
}
#else
__attribute__((noinline)) static int near_one(int x)
{
	return far_two(x) + 5;
}

void _start(void)
{
	for (int i = 0; i < 10; i++)
		far_one(near_one(i));
}
#endif
