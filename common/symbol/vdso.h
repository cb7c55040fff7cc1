/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vDSO: code that the kernel maps into every process. All processes have the same image. */
#pragma once

#include "common/object/build-id.h"
#include "common/parser/parser.h"
#include "common/util/fault.h"

/* The build-id of this machine's vDSO. 0; -ENOMEM; or another negative errno if there is none. */
int vdso_get_build_id(struct build_id *ret);

/*
 * Opens it if its build-id is that of @object, or @object is NULL. 0; -ENOMEM; or another negative
 * errno and @why.
 */
int vdso_open(struct parser *parser, const struct profile_object *object, struct parser_file **ret,
	      struct fault *why);
