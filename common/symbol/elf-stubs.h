/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names the stubs of procedure linkage tables after the functions that they call. */
#pragma once

struct elf_file;

/* To the symbols of @file, which are sealed before and after. 0 or -ENOMEM. */
int elf_stubs_add(struct elf_file *file);
