/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plugin of QEMU's emulation that records the taken branches of the guest's user code in the
 * memory that lbr.h describes: "-plugin lbr.so,memory=PATH".
 *
 * QEMU translates code in blocks, of which a branch can only be the last instruction. Each such
 * branch departs when it is executed, and arrives where the next block of user code begins; an
 * interrupt or a fault between the two runs kernel code, which is left alone, and changes nothing
 * about it. A branch that faults is executed again, and departs again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/vm/plugin/decode.h"
#include "tests/vm/plugin/qemu-plugin.h"

int qemu_plugin_version = 1;

static struct lbr *lbrs;

static void on_branch(unsigned int cpu, void *branch)
{
	if (lbrs[cpu].kinds)
		lbr_depart(&lbrs[cpu], (uintptr_t)branch);
}

static void on_block(unsigned int cpu, void *start)
{
	if (lbrs[cpu].pending)
		lbr_arrive(&lbrs[cpu], (uintptr_t)start);
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	const uint64_t start = qemu_plugin_tb_vaddr(block);
	struct qemu_plugin_insn *last =
		qemu_plugin_tb_get_insn(block, qemu_plugin_tb_n_insns(block) - 1);
	const size_t size = qemu_plugin_insn_size(last);
	const enum lbr_kind kind = decode_branch(qemu_plugin_insn_data(last), size);
	uint64_t branch;

	if (start >> 63) /* the kernel's */
		return;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)start);
	if (kind == LBR_NONE)
		return;
	branch = lbr_branch(qemu_plugin_insn_vaddr(last), (unsigned int)size, kind);
	qemu_plugin_register_vcpu_insn_exec_cb(last, on_branch, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)branch);
}

static int map_memory(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lbrs = mmap(NULL, LBR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return lbrs == MAP_FAILED ? -errno : 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	const char option[] = "memory=";
	int r = -EINVAL;

	if (argc == 1 && strncmp(argv[0], option, strlen(option)) == 0)
		r = map_memory(argv[0] + strlen(option));
	if (r < 0) {
		fprintf(stderr, "lbr.so: memory=PATH: %s\n", strerror(-r));
		return r;
	}
	if (info->system.max_vcpus > LBR_MAX_CPUS) {
		fprintf(stderr, "lbr.so: no more than %d CPUs\n", LBR_MAX_CPUS);
		return -EINVAL;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	return 0;
}
