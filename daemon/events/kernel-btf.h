/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of a kernel's types and members, by its BTF. To parse all of it takes ten times as
 * long. */
#pragma once

#include <stdbool.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Whether a type or a member of the kernel has the name, in the BTF file @path. */
bool kernel_btf_has(const char *path, const char *name);
