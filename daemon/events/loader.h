/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs, and changes their maps. libbpf stays behind this header. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "daemon/events/messages.h"

/*
 * Loads the programs; they live as long as their descriptors, which the caller closes. -errno and
 * @fault: one line with the remedy.
 */
int loader_load(const struct events_program *program, int ret_fds[EVENTS_LOADED],
		struct fault *fault);

/* Puts the event @fd into the map of rings @rings_fd. -EPERM if that is another map, or -errno. */
int loader_add_ring(int rings_fd, uint32_t cpu, int fd);

/* Adds a control group to the map of refused ones. The same errors. */
int loader_refuse(int refused_fd, uint64_t cgroup);

/* The number of possible CPUs, or -errno. */
int loader_count_cpus(void);
