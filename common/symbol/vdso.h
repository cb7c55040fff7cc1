/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code that the kernel maps into every process: all have the image that this one has. */
#pragma once

#include "common/symbol/elf-file.h"
#include "common/util/fault.h"

/* The build-id of this machine's. 0; -ENOMEM; or another negative errno where it has none. */
int vdso_get_build_id(struct build_id *ret);

/* 0; -ENOMEM; or another negative errno and @why where it is not the image of that build-id. */
int vdso_open(const struct profile_object *object, struct elf_file **ret, struct fault *why);
