/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the text of a kernel reaches, kept on disk between starts and boots: to learn it from
 * /proc/kallsyms costs as much CPU time as ten seconds of sampling. One file, of the last kernel;
 * what is damaged or of another kernel is not there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/object/build-id.h"

/* The bytes of text of the kernel with build-id @id. @directory: a descriptor. */
bool kernel_extent_read(int directory, const struct build_id *id, uint64_t *ret_n_bytes);

/* Keeps them, if it can. */
void kernel_extent_write(int directory, const struct build_id *id, uint64_t n_bytes);
