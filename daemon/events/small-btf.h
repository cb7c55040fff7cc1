/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of the kernel's hundred thousand types those that a BPF program reads: libbpf, which compares
 * each of the types that it is given with each of the program's, then has next to nothing to do.
 *
 * Kept are the types that are named as one of the program's, flavors apart ("___" and what
 * follows), with the members that are named as a member there, and what these members are. What
 * pointers point to is not: a program that follows one has that type, too.
 */
#pragma once

#include "daemon/events/btf.h"

/* *@ret: a BTF of its own, in the heap. 0; -EBADMSG if @kernel is not understood; -ENOMEM. */
int small_btf_make(const struct btf_view *kernel, const struct btf_view *program, void **ret,
		   size_t *ret_n);
