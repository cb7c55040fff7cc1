/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What status says of others that use the PMU, too. */
#pragma once

#include "daemon/api/status.h"

/* Adds the problems that the counters of @status show. */
void pmu_problems_add(struct status *status);
