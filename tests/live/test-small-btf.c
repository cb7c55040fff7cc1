/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * With the few types of the kernel that branchd-events picks, the BPF programs become the same
 * instructions as with all of them. Needs root, and is skipped without.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "bpf/branchd.skel.h"
#include "daemon/events/kernel-btf.h"
#include "daemon/events/small-btf.h"

static bool write_types(const struct branchd_bpf *s, int fd)
{
	struct kernel_btf kernel;
	struct btf_view wanted;
	void *bytes = NULL;
	uint32_t n_own;
	const void *own = btf__raw_data(bpf_object__btf(s->obj), &n_own);
	size_t n = 0;
	bool ok;

	if (btf_view_init(&wanted, own, n_own) < 0 || kernel_btf_open(&kernel, KERNEL_BTF) < 0)
		return false;
	ok = small_btf_make(&kernel.view, &wanted, &bytes, &n) == 0 &&
	     write(fd, bytes, n) == (ssize_t)n;
	printf("%zu of %zu bytes\n", n, kernel.n_bytes);
	kernel_btf_done(&kernel);
	free(bytes);
	return ok;
}

/* With the few types, which go into @fd; -1: with all. */
static struct branchd_bpf *load(int fd)
{
	struct branchd_bpf *s;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = fd < 0 ? NULL : path);
	s = branchd_bpf__open_opts(&options);
	if (s && (fd < 0 || write_types(s, fd)) && branchd_bpf__load(s) == 0)
		return s;
	branchd_bpf__destroy(s);
	return NULL;
}

/* But for the descriptors of maps. */
static bool is_same(const struct bpf_program *x, const struct bpf_program *y)
{
	size_t n = bpf_program__insn_cnt(x);

	if (n == 0 || n != bpf_program__insn_cnt(y))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct bpf_insn one = bpf_program__insns(x)[i], other = bpf_program__insns(y)[i];

		if (one.code == (BPF_LD | BPF_IMM | BPF_DW) && one.src_reg)
			one.imm = other.imm;
		if (memcmp(&one, &other, sizeof(one)) != 0)
			return false;
	}
	return true;
}

int main(void)
{
	struct branchd_bpf *few, *all;
	bool ok;
	int fd;

	if (geteuid() != 0) {
		puts("skipped: loading BPF programs needs root");
		return 77;
	}
	fd = memfd_create("types", MFD_CLOEXEC);
	if (fd < 0)
		return EXIT_FAILURE;
	few = load(fd);
	all = load(-1);
	close(fd);
	printf("loaded with few types: %d, with all: %d\n", few != NULL, all != NULL);
	ok = few && all && is_same(few->progs.take_any, all->progs.take_any) &&
	     is_same(few->progs.take_calls, all->progs.take_calls);
	branchd_bpf__destroy(few);
	branchd_bpf__destroy(all);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
