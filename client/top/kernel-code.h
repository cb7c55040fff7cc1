/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code of the running kernel as it runs, with what it has patched in itself: /proc/kcore, an
 * ELF file of the kernel's memory. Root alone may read it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The files, for tests; NULL members: those of /proc. */
struct kernel_code_files {
	const char *kcore, *kallsyms;
};

/*
 * Reads up to @n bytes at @address, where the kernel's function @name must begin now: it does not
 * if the kernel was started again since, or the module was loaded elsewhere. Returns the number of
 * bytes, and their machine in *@ret_machine; 0 if there are none; or -EACCES, for who is not root.
 */
int kernel_code_read(const struct kernel_code_files *files, const char *name, uint64_t address,
		     void *ret, size_t n, uint16_t *ret_machine);
