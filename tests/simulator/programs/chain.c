/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chain N: N times a chain of 43 nested calls, with work before and after the call at each depth.
 */
#include "work.h"

#define LINK(name, next)                                \
	static _noinline_ uint32_t name(uint32_t state) \
	{                                               \
		state = work(state, 3 + state % 5);     \
		state += next(state);                   \
		return work(state, 2);                  \
	}

static _noinline_ uint32_t f43(uint32_t state)
{
	return work(state, 40);
}

LINK(f42, f43)
LINK(f41, f42)
LINK(f40, f41)
LINK(f39, f40)
LINK(f38, f39)
LINK(f37, f38)
LINK(f36, f37)
LINK(f35, f36)
LINK(f34, f35)
LINK(f33, f34)
LINK(f32, f33)
LINK(f31, f32)
LINK(f30, f31)
LINK(f29, f30)
LINK(f28, f29)
LINK(f27, f28)
LINK(f26, f27)
LINK(f25, f26)
LINK(f24, f25)
LINK(f23, f24)
LINK(f22, f23)
LINK(f21, f22)
LINK(f20, f21)
LINK(f19, f20)
LINK(f18, f19)
LINK(f17, f18)
LINK(f16, f17)
LINK(f15, f16)
LINK(f14, f15)
LINK(f13, f14)
LINK(f12, f13)
LINK(f11, f12)
LINK(f10, f11)
LINK(f9, f10)
LINK(f8, f9)
LINK(f7, f8)
LINK(f6, f7)
LINK(f5, f6)
LINK(f4, f5)
LINK(f3, f4)
LINK(f2, f3)
LINK(f1, f2)

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 200);
	uint32_t state = 1;

	for (i = 0; i < n; i++)
		state = f1(state);
	return state == 0;
}
