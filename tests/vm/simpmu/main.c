// SPDX-License-Identifier: GPL-2.0-only
/* A simulated PMU with branch records, for tests in a guest that has none: README.md. */
#include <linux/init.h>
#include <linux/module.h>

#include "simpmu.h"

unsigned int simpmu_depth = 32;
bool simpmu_call_stack = true;
bool simpmu_tos = true;
int simpmu_refuse;
int simpmu_common_us;

module_param_named(depth, simpmu_depth, uint, 0444);
MODULE_PARM_DESC(depth, "branch rows, up to 64; 0: no branch records");
module_param_named(call_stack, simpmu_call_stack, bool, 0644);
MODULE_PARM_DESC(call_stack, "there is a call-stack mode");
module_param_named(tos, simpmu_tos, bool, 0644);
MODULE_PARM_DESC(tos, "hw_idx means something, and unfiltered samples have empty rows, too");
module_param_named(refuse, simpmu_refuse, int, 0644);
MODULE_PARM_DESC(refuse, "errno that opening an event with branch rows gives");
module_param_named(common_us, simpmu_common_us, int, 0644);
MODULE_PARM_DESC(common_us,
		 "all events overflow together so often; 0: by their periods; -1: never");

static int __init simpmu_init(void)
{
	int r;

	if (simpmu_depth > LBR_MAX_DEPTH)
		return -EINVAL;
	r = registers_init();
	if (r < 0)
		return r;
	r = overflow_init();
	if (r < 0)
		goto registers;
	r = simpmu_device_register();
	if (r < 0)
		goto overflow;
	r = pmu_register();
	if (r < 0)
		goto device;
	return 0;
device:
	simpmu_device_unregister();
overflow:
	overflow_done();
registers:
	registers_done();
	return r;
}

static void __exit simpmu_exit(void)
{
	pmu_unregister();
	simpmu_device_unregister();
	overflow_done();
	registers_done();
}

module_init(simpmu_init);
module_exit(simpmu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Simulated PMU with branch records");
