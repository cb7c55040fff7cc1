/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description in a profile of the machine it was taken on. */
#pragma once

#include "common/profile/profile.h"

/* Fills in the host name, the release of the kernel and the model of the CPU. 0 or -ENOMEM. */
int machine_info_fill(struct profile *profile);
