/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the running kernel, its modules, and its BPF programs lie, told as the events that would
 * have told of them. What is hidden (kernel.kptr_restrict) is not told.
 *
 * The kernel tells of BPF programs that come later itself, but not of modules: these are to be
 * looked for again from time to time. One that goes is not told of: nothing runs there until
 * another takes its place.
 */
#pragma once

#include <stdio.h>

#include "common/util/macro.h"
#include "daemon/sampler/proc-scan.h"

/* The modules told of. */
struct running_kernel;

int running_kernel_new(struct running_kernel **ret);
struct running_kernel *running_kernel_free(struct running_kernel *kernel);
DEFINE_CLEANUP(struct running_kernel *, running_kernel_free);

/* For these three: the first negative answer of @handler ends it and is passed on; so does -ENOMEM.
 */
int running_kernel_report(struct running_kernel *kernel, proc_scan_handler handler, void *userdata);
/* Tells of the modules that have come or moved since they were told of; and of others anew. */
int running_kernel_report_modules(struct running_kernel *kernel, proc_scan_handler handler,
				  void *userdata);
/* The same as @proc_modules has them, in the form of /proc/modules. */
int running_kernel_read_modules(struct running_kernel *kernel, FILE *proc_modules,
				proc_scan_handler handler, void *userdata);
