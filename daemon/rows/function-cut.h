/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a sum that are asked for: those with most samples. Who shows twenty of a hundred
 * thousand processes or of ten thousand functions need not read the names of the others.
 */
#pragma once

#include <stddef.h>

#include "daemon/rows/function-sum.h"

/*
 * Of a sum by process that was read in one part and has no names yet: keeps the @n with most
 * samples, all with as many as the last of them, and what is of no process. *@ret is the
 * number of those with samples that are left out. 0 or -ENOMEM.
 */
int function_cut_processes(struct function_sum *sum, size_t n, size_t *ret);

/*
 * Finishes a sum by function or object of one part, as function_sum_finish(), and keeps the @n
 * functions with most samples likewise; what is of no function stays, and so do functions with a
 * thousandth of the samples in their stacks, those of code that was made at run time, and all
 * objects. By object no function stays.
 */
int function_cut_functions(struct function_sum *sum, size_t n, size_t *ret);
