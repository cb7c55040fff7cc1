/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The few macros that ownership in C needs: clean up at the end of a scope, hand over a pointer. */
#pragma once

#include <stddef.h>

/* The local is released by @f (which takes a pointer to it) when its scope ends. */
#define _cleanup_(f) __attribute__((cleanup(f)))

#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_       __attribute__((unused))
#define _likely_(x)    __builtin_expect(!!(x), 1)
#define _unlikely_(x)  __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The struct of that @type whose @member is at @p. */
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* The value of pointer @p, which is NULL from then on: ownership goes to the caller. */
#define TAKE_PTR(p)                   \
	({                            \
		__typeof__(p) _p = p; \
		p = NULL;             \
		_p;                   \
	})

#define MIN(a, b)                     \
	({                            \
		__typeof__(a) _a = a; \
		__typeof__(b) _b = b; \
		_a < _b ? _a : _b;    \
	})

#define MAX(a, b)                     \
	({                            \
		__typeof__(a) _a = a; \
		__typeof__(b) _b = b; \
		_a > _b ? _a : _b;    \
	})

/* Defines x_freep(), what _cleanup_() takes, from `x *x_free(x *)`. */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			func(*p);           \
	}                                   \
	struct swallow_semicolon
