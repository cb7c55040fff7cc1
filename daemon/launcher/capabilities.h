/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The capabilities of the calling thread: they are given up, never gained. */
#pragma once

#include <stdint.h>

#include <linux/capability.h>

/* A set of capabilities. */
#define CAPABILITY(number) (1ull << (number))

/*
 * Gives up all capabilities outside @keep for programs executed later, and none now. Without
 * CAP_SETPCAP nothing changes. 0 or -errno.
 */
int capabilities_limit(uint64_t keep);

/*
 * Gives up all capabilities outside @keep, in all sets, and for programs executed later, too; of
 * @keep, those that the thread has stay in effect and are passed on. Sets no_new_privs. Without
 * CAP_SETPCAP the bounding set stays as it is. 0 or -errno.
 */
int capabilities_keep(uint64_t keep);
