/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event as the kernel wants it: its type and its configuration. The fields of a PMU are found
 * where the kernel describes them, in /sys/bus/event_source/devices/PMU/format and events.
 */
#pragma once

#include <linux/perf_event.h>

#include "common/util/fault.h"
#include "daemon/sampler/event-spec.h"
#include "daemon/sampler/machine.h"

/*
 * Sets type, config, config1, config2 and precise_ip of *@ret; for taken branches a raw type
 * without config, see probe_adapt(). *@ret_pmu: the PMU of @machine whose CPUs alone count it, or
 * NULL. 0; -EOPNOTSUPP and @fault if the machine has no such PMU or field.
 */
int event_attr_set(struct perf_event_attr *ret, const struct pmu **ret_pmu,
		   const struct event_spec *spec, const struct machine *machine,
		   struct fault *fault);
