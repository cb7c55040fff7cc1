/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the drivers of Linux 6.1 to 6.18: arch/x86/events/intel/lbr.c, amd/lbr.c, amd/brs.c, and
 * drivers/perf/arm_brbe.c.
 */
#include "daemon/sampler/lbr.h"

#include <stddef.h>
#include <string.h>

enum kind { LBR_INTEL, LBR_ARCH, LBR_AMD, LBR_BRS, LBR_BRBE, LBR_OTHER };

static const struct lbr table[] = {
	[LBR_INTEL] = { .name = "Intel LBR",
			.call_stack = true,
			.hw_idx = true,
			.any_is_free = true },
	[LBR_ARCH] = { .name = "Intel architectural LBR", .call_stack = true },
	[LBR_AMD] = { .name = "AMD LbrExtV2",
		      .depth = 16,
		      .wrong_path = true,
		      .lacks = "no cycles" },
	[LBR_BRS] = { .name = "AMD BRS",
		      .depth = 16,
		      .taken_only = true,
		      .lacks = "no cycles, and samples at taken branches only" },
	[LBR_BRBE] = { .name = "Arm BRBE" },
	[LBR_OTHER] = { .name = "branch records", .call_stack = true },
};

const struct lbr *lbr_of(const struct machine *machine)
{
	if (machine->arm)
		return &table[LBR_BRBE];
	if (machine_has_flag(machine, "arch_lbr"))
		return &table[LBR_ARCH];
	if (strncmp(machine->cpuid, "GenuineIntel,", 13) == 0)
		return &table[LBR_INTEL];
	if (machine_has_flag(machine, "amd_lbr_v2"))
		return &table[LBR_AMD];
	if (machine_has_flag(machine, "brs"))
		return &table[LBR_BRS];
	return &table[LBR_OTHER];
}

/*
 * Intel: BR_INST_RETIRED.NEAR_TAKEN, of the large cores since Sandy Bridge and of the small cores
 * of hybrid processors; other small cores ("...mont") have other codes. AMD: "Retired Taken Branch
 * Instructions".
 */
uint64_t lbr_taken_event(const struct machine *machine, const struct pmu *pmu)
{
	if (strncmp(machine->cpuid, "AuthenticAMD,", 13) == 0)
		return 0xc4;
	if (strncmp(machine->cpuid, "GenuineIntel,", 13) != 0)
		return 0;
	if (strcmp(pmu->name, "cpu_atom") == 0)
		return 0xc0c4;
	return strstr(pmu->model, "mont") ? 0 : 0x20c4;
}
