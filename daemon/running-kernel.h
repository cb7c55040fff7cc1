/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the running kernel, its modules, and its BPF programs lie, told as the events that would have
 * told of them. What is hidden (kernel.kptr_restrict) is not told.
 */
#pragma once

#include "daemon/running.h"

/* The first negative answer of @handler ends it and is passed on; so does -ENOMEM. */
int running_kernel_tell(running_handler handler, void *userdata);
