/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the machine says of itself that tells how it can be sampled: the PMUs of its CPUs, their
 * speed, and what the processor says of its branch records. Whether they can be had only the
 * kernel's answer to an event tells: see probe.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_MAX_PMUS 8

/* A core type's. A machine whose cores are alike has one. */
struct pmu {
	char name[256];
	uint32_t type;  /* of its events */
	uint32_t depth; /* branch rows; 0: it does not say */
	char model[32]; /* as the kernel calls its microarchitecture; "" where it does not */
	char cpus[256]; /* the list of its CPUs; "": all */
};

struct machine {
	char cpuid[64];   /* as perf writes it, "GenuineIntel,6,85,4"; "" where there is none */
	char flags[4096]; /* of the first CPU, each between spaces */
	uint64_t hz;      /* of a CPU at full speed; 0: not known */
	bool arm;
	struct pmu pmus[MACHINE_MAX_PMUS];
	size_t n_pmus;

	/* The caller's to fill in. */
	uint32_t first_cpu;     /* one that is on line */
	bool keeps_call_stacks; /* the kernel has a task's call-stack rows for it again: since 6.15
				 */
};

/*
 * Reads /proc and /sys below @root ("" but in tests); what is not there is left 0.
 */
void machine_read(struct machine *ret, const char *root);

bool machine_has_flag(const struct machine *machine, const char *flag);

/* The PMU of @cpu, or NULL. */
const struct pmu *machine_pmu(const struct machine *machine, uint32_t cpu);
