/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds symbols for the stubs of procedure linkage tables, named after the functions they call. */
#pragma once

struct elf_file;

/* Adds them to the symbols of @file, which are finalized before and after. 0 or -ENOMEM. */
int elf_stubs_add(struct elf_file *file);
