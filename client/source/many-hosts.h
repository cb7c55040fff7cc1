/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same windows of many hosts as one profile.
 *
 * A child process for each host asks it, as for a single one, and passes on the answer: a host that
 * hangs, or whose answer is wrong, takes nothing from the others, and is ended with its ssh. Some
 * children run at once, each in a session of its own: without a terminal, ssh asks no questions.
 */
#pragma once

#include <stdint.h>

#include "client/source/host-list.h"
#include "client/source/profile-source.h"

struct many_hosts_settings {
	struct profile_source_settings source; /* of windows; @socket is the path on each host */
	const struct host_list *hosts;
	uint64_t timeout_us; /* of each host */
};

/*
 * *@ret has the sum of the hosts that answered, and all hosts. -errno and @fault if none answered.
 */
int many_hosts_open(struct profile_source **ret, const struct many_hosts_settings *settings,
		    struct fault *fault);
