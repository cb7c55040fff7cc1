/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of a sum that are asked for: those with most samples. Who shows twenty of a hundred
 * thousand need not read the names of the others.
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
