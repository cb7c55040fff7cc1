/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The facts about a machine that sampling depends on: the PMUs of its CPUs, their speed, and the
 * kind of its branch records. Whether the kernel grants an event is found by opening it: see
 * probe.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_MAX_PMUS 8

/* The PMU of a type of cores. A machine whose cores are alike has one. */
struct pmu {
	char name[256];
	uint32_t type;  /* perf_event_attr.type of its events */
	uint32_t depth; /* branch records; 0: not known */
	char model[32]; /* the kernel's name of the microarchitecture; "": none */
	char cpus[256]; /* the list of its CPUs; "": all */
};

struct machine {
	const char *root; /* of machine_read(), borrowed; NULL is "" */
	char cpuid[64];   /* as perf writes it, "GenuineIntel,6,85,4"; "": none */
	char flags[4096]; /* of the first CPU, each between spaces */
	uint64_t hz;      /* of a CPU at full speed; 0: not known */
	bool arm;
	struct pmu pmus[MACHINE_MAX_PMUS];
	size_t n_pmus;

	/* The caller fills these in. */
	uint32_t first_cpu; /* a CPU on line */
	/* The kernel saves call-stack records when a task is switched out: since Linux 6.15. */
	bool keeps_call_stacks;
};

/* Reads /proc and /sys below @root, "" except in tests. What is missing there is 0. */
void machine_read(struct machine *ret, const char *root);

bool machine_has_flag(const struct machine *machine, const char *flag);

/* The PMU of @cpu, or NULL. */
const struct pmu *machine_pmu(const struct machine *machine, uint32_t cpu);
