/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/loader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/branchd.skel.h"
#include "common/util/cleanup.h"
#include "daemon/events/kernel-btf.h"
#include "daemon/events/small-btf.h"

static_assert(sizeof(struct bpf_sample) % sizeof(uint64_t) == 0, "words follow the sample");

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
	if (access(KERNEL_BTF, R_OK) < 0)
		return fault_set(fault, r,
				 "this kernel has no BTF, which the BPF program needs "
				 "(" KERNEL_BTF " is missing): use a kernel built with "
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

static void configure_branch_records(struct branchd_bpf *s, const struct events_program *program)
{
	s->rodata->take_rows = program->rows;
	s->rodata->depth = program->depth;
	s->rodata->has_hw_idx = program->hw_idx;
	s->rodata->leave_wrong_path = program->leave_wrong_path;
	s->rodata->some_kinds = program->some_kinds;
	s->rodata->leave_kernel = program->leave_kernel;
}

static void configure_task_filter(struct branchd_bpf *s, const struct events_program *program)
{
	s->rodata->n_pids = program->n_pids;
	s->rodata->n_uids = program->n_uids;
	memcpy((void *)s->rodata->pids, program->pids, sizeof(program->pids));
	memcpy((void *)s->rodata->uids, program->uids, sizeof(program->uids));
	s->rodata->some_units = program->some_units;
	if (program->some_units)
		bpf_map__set_max_entries(s->maps.refused, BPF_MAX_REFUSED);
}

static void configure(struct branchd_bpf *s, const struct events_program *program, uint32_t n_cpus)
{
	s->rodata->by_clock = program->by_clock;
	s->rodata->take_kernel = program->kernel;
	s->rodata->user_stack = program->user;
	s->rodata->capture = program->capture;
	s->rodata->by_heat = program->by_heat;
	s->rodata->take_cgroup = access("/proc/self/cgroup", F_OK) == 0;
	configure_branch_records(s, program);
	configure_task_filter(s, program);
	bpf_program__set_autoload(s->progs.take_calls, program->rows);
	bpf_map__set_max_entries(s->maps.counters, n_cpus);
	bpf_map__set_max_entries(s->maps.scratch, n_cpus);
	if (program->capture != UINT32_MAX)
		bpf_map__set_max_entries(s->maps.ticks, n_cpus);
}

/* The skeleton closes its own descriptors. Without branch records no event is of calls. */
static int copy_fds(const struct branchd_bpf *s, int ret_fds[EVENTS_LOADED])
{
	const struct bpf_program *any = s->progs.take_any, *calls = s->progs.take_calls;
	const int fds[EVENTS_LOADED] = {
		[EVENTS_COUNTERS] = bpf_map__fd(s->maps.counters),
		[EVENTS_RINGS] = bpf_map__fd(s->maps.rings),
		[EVENTS_REFUSED] = bpf_map__fd(s->maps.refused),
		[EVENTS_TICKS] = bpf_map__fd(s->maps.ticks),
		[EVENTS_PROGRAMS + BPF_EVENT_ANY] = bpf_program__fd(any),
		[EVENTS_PROGRAMS + BPF_EVENT_CALLS] =
			bpf_program__fd(bpf_program__autoload(calls) ? calls : any),
	};

	for (int i = 0; i < EVENTS_LOADED; i++) {
		ret_fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
		if (ret_fds[i] >= 0)
			continue;
		while (i-- > 0)
			close(ret_fds[i]);
		return -errno;
	}
	return 0;
}

/* Writes the kernel's types that the programs read to @fd. */
static int write_types(int fd, const struct branchd_bpf *s)
{
	_cleanup_(kernel_btf_done) struct kernel_btf kernel = {};
	_cleanup_free_ void *bytes = NULL;
	struct btf_view wanted;
	uint32_t n_own = 0;
	const void *own = btf__raw_data(bpf_object__btf(s->obj), &n_own);
	size_t n = 0;
	int r = own ? btf_view_init(&wanted, own, n_own) : -ENOMEM;

	if (r >= 0)
		r = kernel_btf_open(&kernel, KERNEL_BTF);
	if (r >= 0)
		r = small_btf_make(&kernel.view, &wanted, &bytes, &n);
	if (r >= 0 && write(fd, bytes, n) != (ssize_t)n)
		r = -EIO;
	return r;
}

/* @types_fd: a file that shall hold the types that libbpf is given; -1: it takes the kernel's. */
static int load(const struct events_program *program, int types_fd, int ret_fds[EVENTS_LOADED])
{
	int n_cpus = loader_count_cpus(), r = 0;
	struct branchd_bpf *s;
	char path[64];

	if (n_cpus < 0)
		return n_cpus;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = types_fd < 0 ? NULL : path);
	s = branchd_bpf__open_opts(&options);
	if (!s)
		return -errno;
	configure(s, program, (uint32_t)n_cpus);
	if (types_fd >= 0)
		r = write_types(types_fd, s);
	if (r >= 0)
		r = branchd_bpf__load(s);
	if (r >= 0)
		r = copy_fds(s, ret_fds);
	branchd_bpf__destroy(s);
	malloc_trim(0); /* what libbpf took is needed once */
	return r;
}

int loader_load(const struct events_program *program, int ret_fds[EVENTS_LOADED],
		struct fault *fault)
{
	_cleanup_close_ int types_fd = memfd_create("types", MFD_CLOEXEC);
	int r = -1;

	libbpf_set_print(keep_warning);
	if (types_fd >= 0)
		r = load(program, types_fd, ret_fds);
	first_warning[0] = '\0';
	if (r < 0)
		r = load(program, -1, ret_fds);
	return r < 0 ? explain_load(r, fault) : 0;
}

/* Whether @fd is the map that loader_load() has made under this name. */
static bool is_map(int fd, enum bpf_map_type type, const char *name)
{
	struct bpf_map_info info = {};
	uint32_t n_bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &n_bytes) == 0 && info.type == type &&
	       strncmp(info.name, name, sizeof(info.name)) == 0;
}

int loader_add_ring(int rings_fd, uint32_t cpu, int fd)
{
	if (!is_map(rings_fd, BPF_MAP_TYPE_PERF_EVENT_ARRAY, "rings"))
		return -EPERM;
	return bpf_map_update_elem(rings_fd, &cpu, &fd, BPF_ANY);
}

int loader_refuse(int refused_fd, uint64_t cgroup)
{
	uint8_t yes = 1;

	if (!is_map(refused_fd, BPF_MAP_TYPE_HASH, "refused"))
		return -EPERM;
	return bpf_map_update_elem(refused_fd, &cgroup, &yes, BPF_ANY);
}

int loader_count_cpus(void)
{
	return libbpf_num_possible_cpus();
}
