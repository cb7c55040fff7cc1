/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/program.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/branchd.skel.h"
#include "common/util/cleanup.h"

static_assert(sizeof(struct bpf_sample) % sizeof(uint64_t) == 0, "words follow the sample");

struct program {
	struct branchd_bpf *skeleton;
	struct bpf_counters *counters;
	uint32_t n_cpus;
};

/* libbpf's first warning: of all its warnings, this one has the cause. */
static _Thread_local char first_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_WARN || first_warning[0])
		return 0;
	vsnprintf(first_warning, sizeof(first_warning), format, args);
	first_warning[strcspn(first_warning, "\n")] = '\0';
	return 0;
}

/* The brackets in "none integrity [confidentiality]" mark the mode in force. */
static bool is_locked_down(void)
{
	_cleanup_fclose_ FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	return f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
}

static int explain_load(int r, struct fault *fault)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return fault_set(fault, r,
				 "this kernel has no BTF, which the BPF program needs "
				 "(/sys/kernel/btf/vmlinux is missing): use a kernel built with "
				 "CONFIG_DEBUG_INFO_BTF=y");
	if (is_locked_down())
		return fault_set(
			fault, r,
			"kernel lockdown (lockdown=confidentiality) keeps BPF programs from "
			"reading stacks: boot with lockdown=integrity or none");
	if (r == -EPERM || r == -EACCES)
		return fault_set(
			fault, r,
			"no permission to load a BPF program: run as root, or with CAP_BPF and "
			"CAP_PERFMON");
	if (r == -ENOSYS)
		return fault_set(
			fault, r,
			"this kernel has no BPF: use a kernel built with CONFIG_BPF_SYSCALL=y");
	return fault_set(fault, r, "the BPF program cannot be loaded: %s%s%s", strerror(-r),
			 first_warning[0] ? ": " : "", first_warning);
}

static void configure_branch_records(struct branchd_bpf *s, const struct program_settings *settings)
{
	const struct lbr *lbr = settings->lbr;

	if (!lbr)
		return;
	s->rodata->take_rows = true;
	s->rodata->depth = settings->depth;
	s->rodata->has_hw_idx = lbr->hw_idx;
	s->rodata->leave_wrong_path = lbr->wrong_path;
	s->rodata->some_kinds = settings->some_kinds;
	s->rodata->leave_kernel = settings->leave_kernel;
}

static void configure_task_filter(struct branchd_bpf *s, const struct task_filter *only)
{
	s->rodata->n_pids = only->pids.n;
	s->rodata->n_uids = only->uids.n;
	memcpy((void *)s->rodata->pids, only->pids.ids, sizeof(only->pids.ids));
	memcpy((void *)s->rodata->uids, only->uids.ids, sizeof(only->uids.ids));
	s->rodata->some_units = only->units.n > 0;
	if (only->units.n > 0)
		bpf_map__set_max_entries(s->maps.refused, BPF_MAX_REFUSED);
}

static void configure(struct program *p, const struct program_settings *settings)
{
	struct branchd_bpf *s = p->skeleton;

	s->rodata->period_ns = settings->period_ns;
	s->rodata->take_kernel = settings->kernel;
	s->rodata->take_user = settings->user;
	s->rodata->take_cgroup = access("/proc/self/cgroup", F_OK) == 0;
	configure_branch_records(s, settings);
	configure_task_filter(s, settings->only);
	bpf_map__set_max_entries(s->maps.counters, p->n_cpus);
}

static size_t counters_bytes(const struct program *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (p->n_cpus * sizeof(*p->counters) + page - 1) & ~(page - 1);
}

static int load(struct program *p, const struct program_settings *settings)
{
	void *counters;
	int r;

	r = libbpf_num_possible_cpus();
	if (r < 0)
		return r;
	p->n_cpus = (uint32_t)r;
	p->skeleton = branchd_bpf__open();
	if (!p->skeleton)
		return -errno;
	configure(p, settings);
	r = branchd_bpf__load(p->skeleton);
	if (r < 0)
		return r;
	counters = mmap(NULL, counters_bytes(p), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(p->skeleton->maps.counters), 0);
	if (counters == MAP_FAILED)
		return -errno;
	p->counters = counters;
	return 0;
}

int program_load(struct program **ret, const struct program_settings *settings, struct fault *fault)
{
	_cleanup_(program_freep) struct program *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	first_warning[0] = '\0';
	libbpf_set_print(keep_warning);
	r = load(p, settings);
	if (r < 0)
		return explain_load(r, fault);
	*ret = TAKE_PTR(p);
	return 0;
}

struct program *program_free(struct program *program)
{
	if (!program)
		return NULL;
	if (program->counters)
		munmap(program->counters, counters_bytes(program));
	branchd_bpf__destroy(program->skeleton);
	free(program);
	return NULL;
}

int program_fd(const struct program *program, enum bpf_event event)
{
	const struct branchd_bpf *s = program->skeleton;

	return bpf_program__fd(event == BPF_EVENT_CALLS ? s->progs.take_calls : s->progs.take_any);
}

void program_refuse(const struct program *program, uint64_t id)
{
	uint8_t yes = 1;

	bpf_map_update_elem(bpf_map__fd(program->skeleton->maps.refused), &id, &yes, BPF_ANY);
}

static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_member *members = btf_members(type);

	for (unsigned int i = 0; i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, members[i].name_off), name) == 0)
			return true;
	return false;
}

bool program_kernel_has(const char *type, const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int32_t id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT) : -ENOENT;
	bool has = id > 0 && has_member(btf, btf__type_by_id(btf, (uint32_t)id), name);

	btf__free(btf);
	return has;
}

int program_ring_map_fd(const struct program *program)
{
	return bpf_map__fd(program->skeleton->maps.rings);
}

uint32_t program_n_cpus(const struct program *program)
{
	return program->n_cpus;
}

struct bpf_counters *program_counters(const struct program *program, uint32_t cpu)
{
	assert(cpu < program->n_cpus);
	return &program->counters[cpu];
}

void program_get_run_time(const struct program *program, uint64_t *ret_ns, uint64_t *ret_runs)
{
	*ret_ns = *ret_runs = 0;
	for (enum bpf_event e = 0; e < BPF_N_EVENTS; e++) {
		struct bpf_prog_info info = { 0 };
		uint32_t n_bytes = sizeof(info);

		if (bpf_obj_get_info_by_fd(program_fd(program, e), &info, &n_bytes) < 0)
			continue;
		*ret_ns += info.run_time_ns;
		*ret_runs += info.run_cnt;
	}
}
