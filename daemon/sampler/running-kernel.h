/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The addresses of the running kernel, its modules and its BPF programs, reported as mapping and
 * ksymbol events. Addresses that kernel.kptr_restrict hides are not reported.
 *
 * The kernel itself reports BPF programs that are loaded later, but not modules: those must be
 * scanned for from time to time. The removal of a module is not reported: no code runs there until
 * another module takes its place.
 */
#pragma once

#include <stdio.h>

#include "common/util/handover.h"
#include "common/util/macro.h"
#include "daemon/sampler/proc-scan.h"

/* Holds the modules reported so far. */
struct running_kernel;

/*
 * Takes over the descriptors of /proc/kallsyms and /proc/modules, which show addresses by the
 * rights of whoever opened them; a negative one has none. @notes: the file with the kernel's
 * build-id, borrowed. -ENOMEM
 */
int running_kernel_new(struct running_kernel **ret, int kallsyms_fd, int modules_fd,
		       const char *notes);
struct running_kernel *running_kernel_free(struct running_kernel *kernel);
DEFINE_CLEANUP(struct running_kernel *, running_kernel_free);

/*
 * The kernel takes long to write /proc/kallsyms. @copy, if it is not NULL, gets a copy of it in
 * memory when all of the file is read for running_kernel_report(). In @directory, a descriptor or
 * -1, how far the kernel's text reaches is kept, so that it need not be read at the next start.
 * Both are borrowed.
 */
void running_kernel_keep(struct running_kernel *kernel, struct handover *copy, int directory);

/* These four end at the first negative answer of @handler, and return it. 0 or -ENOMEM. */

/* Reports all, or all but what running_kernel_report_generated() is left to report. */
int running_kernel_report(struct running_kernel *kernel, proc_scan_handler handler, void *userdata);
/* Reports the BPF programs and trampolines, and all modules again, unless that was done already. */
int running_kernel_report_generated(struct running_kernel *kernel, proc_scan_handler handler,
				    void *userdata);
/* Reports modules that are new or have moved, and all modules at higher addresses again. */
int running_kernel_report_modules(struct running_kernel *kernel, proc_scan_handler handler,
				  void *userdata);
/* The same for a list in the form of /proc/modules. */
int running_kernel_read_modules(struct running_kernel *kernel, FILE *proc_modules,
				proc_scan_handler handler, void *userdata);
