/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's types, in its own file. To parse all of them takes ten times as long. */
#pragma once

#include <stdbool.h>

#include "common/util/macro.h"
#include "daemon/events/btf.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct kernel_btf {
	struct btf_view view;
	void *bytes; /* mapped, or in the heap */
	size_t n_bytes;
	bool is_mapped;
};

/* The BTF file @path. 0 or -errno. */
int kernel_btf_open(struct kernel_btf *ret, const char *path);
void kernel_btf_done(struct kernel_btf *btf);

/* Whether a type or a member of the kernel has the name, in the BTF file @path. */
bool kernel_btf_has(const char *path, const char *name);
