/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unwind/traced.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/elf/unwind-rows.h"
#include "common/unwind/call-site.h"
#include "common/util/cleanup.h"

void traced_init(struct traced *traced, pid_t pid)
{
	*traced = (struct traced){ .pid = pid, .stack = malloc(TRACED_STACK_MAX) };
}

static void forget_mappings(struct traced *traced)
{
	for (size_t i = 0; i < traced->n_mappings; i++)
		free((void *)traced->mappings[i].code);
	free(traced->mappings);
	traced->mappings = NULL;
	traced->n_mappings = 0;
}

void traced_done(struct traced *traced)
{
	forget_mappings(traced);
	for (size_t i = 0; i < traced->n_objects; i++) {
		unwind_table_done(&traced->objects[i]->table);
		free(traced->objects[i]->path);
		free(traced->objects[i]);
	}
	free(traced->stack);
}

size_t traced_read(const struct traced *traced, uint64_t address, void *ret, size_t n)
{
	const struct iovec to = { ret, n };
	const struct iovec from = { (void *)address, n };
	ssize_t r = process_vm_readv(traced->pid, &to, 1, &from, 1, 0);

	return r < 0 ? 0 : (size_t)r;
}

static void read_table(struct traced *traced, const struct traced_mapping *mapping,
		       struct unwind_table *ret)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)traced->pid,
		 mapping->start, mapping->end);
	if (mapping->path[0] == '[') {
		_cleanup_free_ uint8_t *bytes = malloc(mapping->end - mapping->start);
		size_t n =
			traced_read(traced, mapping->start, bytes, mapping->end - mapping->start);

		if (elf_image_open_memory(&image, bytes, n) < 0)
			return;
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || elf_image_open(&image, fd) < 0)
			return;
	}
	unwind_rows_read(image, &image->loads, ret);
}

static struct traced_object *find_object(struct traced *traced,
					 const struct traced_mapping *mapping)
{
	struct traced_object *object;

	for (size_t i = 0; i < traced->n_objects; i++)
		if (!strcmp(traced->objects[i]->path, mapping->path))
			return traced->objects[i];
	if (traced->n_objects == sizeof(traced->objects) / sizeof(*traced->objects))
		return NULL;
	object = calloc(1, sizeof(*object));
	object->path = strdup(mapping->path);
	read_table(traced, mapping, &object->table);
	traced->objects[traced->n_objects++] = object;
	return object;
}

static void read_code(struct traced *traced, struct traced_mapping *mapping)
{
	uint8_t *code = malloc(mapping->end - mapping->start);

	mapping->n_code = traced_read(traced, mapping->start, code, mapping->end - mapping->start);
	mapping->code = code;
}

void traced_read_mappings(struct traced *traced)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *line = NULL;
	char path[64];
	size_t n = 0;

	forget_mappings(traced);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)traced->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &n, file) > 0) {
		struct traced_mapping m = { 0 };
		char mode[5] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255[^\n]",
			   &m.start, &m.end, mode, &m.offset, m.path) < 4)
			continue;
		m.executable = mode[2] == 'x';
		m.stack = !strcmp(m.path, "[stack]");
		if (!strcmp(m.path, "[vsyscall]"))
			continue;
		if (m.executable && (m.path[0] == '/' || !strcmp(m.path, "[vdso]")))
			m.object = find_object(traced, &m);
		if (m.executable)
			read_code(traced, &m);
		traced->mappings =
			reallocarray(traced->mappings, traced->n_mappings + 1, sizeof(m));
		traced->mappings[traced->n_mappings++] = m;
	}
	traced->missed = false;
}

const struct traced_mapping *traced_find(const struct traced *traced, uint64_t address)
{
	for (size_t i = 0; i < traced->n_mappings; i++)
		if (address >= traced->mappings[i].start && address < traced->mappings[i].end)
			return &traced->mappings[i];
	return NULL;
}

static bool locate(uint64_t address, struct unwind_code *ret, void *userdata)
{
	struct traced *traced = userdata;
	const struct traced_mapping *m = traced_find(traced, address);

	traced->missed |= !m;
	if (!m || !m->executable)
		return false;
	ret->table = m->object ? &m->object->table : NULL;
	ret->offset = address - m->start + m->offset;
	ret->by_fp = !m->object || m->object->table.n_rows == 0;
	return true;
}

static enum unwind_call follows_call(uint64_t address, void *userdata)
{
	const struct traced_mapping *m = traced_find(userdata, address - 1);
	size_t n;

	if (!m || !m->code || address - m->start > m->n_code)
		return UNWIND_CALL_UNKNOWN;
	n = address - m->start < CALL_SITE_BYTES ? address - m->start : CALL_SITE_BYTES;
	return call_site_precedes(EM_X86_64, m->code + (address - m->start) - n, n) ?
		       UNWIND_CALL_YES :
		       UNWIND_CALL_NO;
}

void traced_registers(const struct traced *traced, struct unwind_registers *ret)
{
#ifdef __x86_64__
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, traced->pid, 0, &r) < 0)
		abort();
	*ret = (struct unwind_registers){
		.ip = r.rip,
		.sp = r.rsp,
		.fp = r.rbp,
		.values = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9,
			    r.r10, r.r11, r.r12, r.r13, r.r14, r.r15 },
		.known = 0xffff,
	};
#else
	abort();
#endif
}

static size_t stack_size(struct traced *traced, uint64_t sp, size_t max)
{
	const struct traced_mapping *m = traced_find(traced, sp);

	if (!m) { /* the stack may have grown */
		traced_read_mappings(traced);
		m = traced_find(traced, sp);
	}
	return !m ? 0 : m->end - sp < max ? m->end - sp : max;
}

void traced_walk(struct traced *traced, size_t max_stack, struct unwind_input *input,
		 struct unwind_frame *frames, size_t max_frames, struct unwind_result *ret)
{
	*input = (struct unwind_input){
		.machine = EM_X86_64,
		.locate = locate,
		.follows_call = follows_call,
		.userdata = traced,
		.stack = traced->stack,
	};
	traced_registers(traced, &input->registers);
	input->stack_address = input->registers.sp;
	if (!traced->mappings || traced->missed)
		traced_read_mappings(traced);
	for (int i = 0; i < 2; i++) {
		input->n_stack = traced_read(traced, input->stack_address, traced->stack,
					     stack_size(traced, input->stack_address, max_stack));
		unwind_walk(input, frames, max_frames, ret);
		if (!traced->missed)
			break;
		traced_read_mappings(traced);
	}
}

const char *traced_name(const struct traced *traced, uint64_t address)
{
	const struct traced_mapping *m = traced_find(traced, address);
	static char names[4][128];
	static unsigned int at;
	char *name = names[at++ % 4];
	const char *base;

	if (!m) {
		snprintf(name, sizeof(names[0]), "%#" PRIx64, address);
		return name;
	}
	base = strrchr(m->path, '/');
	snprintf(name, sizeof(names[0]), "%.80s+%#" PRIx64, base ? base + 1 : m->path,
		 address - m->start + m->offset);
	return name;
}

pid_t traced_start(char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
	return pid;
}
