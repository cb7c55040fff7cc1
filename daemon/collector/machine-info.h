/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a profile says of the machine it was taken on. */
#pragma once

#include "common/profile/profile.h"

/* Fills in host name, release of the kernel and model of the CPU. 0 or -ENOMEM. */
int machine_info_fill(struct profile *profile);
