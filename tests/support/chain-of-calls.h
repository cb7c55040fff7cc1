/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that call each other, f1() to f42() by LINK(name, next), the last of them f43(), which
 * is there already. */
#pragma once

#define CHAIN_OF_CALLS(LINK) \
	LINK(f42, f43)       \
	LINK(f41, f42)       \
	LINK(f40, f41)       \
	LINK(f39, f40)       \
	LINK(f38, f39)       \
	LINK(f37, f38)       \
	LINK(f36, f37)       \
	LINK(f35, f36)       \
	LINK(f34, f35)       \
	LINK(f33, f34)       \
	LINK(f32, f33)       \
	LINK(f31, f32)       \
	LINK(f30, f31)       \
	LINK(f29, f30)       \
	LINK(f28, f29)       \
	LINK(f27, f28)       \
	LINK(f26, f27)       \
	LINK(f25, f26)       \
	LINK(f24, f25)       \
	LINK(f23, f24)       \
	LINK(f22, f23)       \
	LINK(f21, f22)       \
	LINK(f20, f21)       \
	LINK(f19, f20)       \
	LINK(f18, f19)       \
	LINK(f17, f18)       \
	LINK(f16, f17)       \
	LINK(f15, f16)       \
	LINK(f14, f15)       \
	LINK(f13, f14)       \
	LINK(f12, f13)       \
	LINK(f11, f12)       \
	LINK(f10, f11)       \
	LINK(f9, f10)        \
	LINK(f8, f9)         \
	LINK(f7, f8)         \
	LINK(f6, f7)         \
	LINK(f5, f6)         \
	LINK(f4, f5)         \
	LINK(f3, f4)         \
	LINK(f2, f3)         \
	LINK(f1, f2)
