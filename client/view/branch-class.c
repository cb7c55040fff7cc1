/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/branch-class.h"

#include <errno.h>
#include <stdlib.h>

#include "common/elf/disassembler.h"

struct branch_class {
	const struct profile *profile;
	struct symbolizer *symbolizer;
	struct disassembler *disassembler; /* of @machine; NULL: none yet, or none exists */
	uint16_t machine;
};

int branch_class_new(struct branch_class **ret, const struct profile *profile,
		     struct symbolizer *symbolizer)
{
	struct branch_class *class = calloc(1, sizeof(*class));

	if (!class)
		return -ENOMEM;
	class->profile = profile;
	class->symbolizer = symbolizer;
	*ret = class;
	return 0;
}

struct branch_class *branch_class_free(struct branch_class *class)
{
	if (!class)
		return NULL;
	disassembler_free(class->disassembler);
	free(class);
	return NULL;
}

static int get_disassembler(struct branch_class *class, uint16_t machine)
{
	int r;

	if (class->machine == machine)
		return 0;
	class->disassembler = disassembler_free(class->disassembler);
	class->machine = machine;
	r = disassembler_new(&class->disassembler, machine);
	return r == -ENOMEM ? r : 0;
}

/* 1 and the instruction at @at; 0 if it is unknown; or -ENOMEM. */
static int decode(struct branch_class *class, struct location at, struct instruction *ret)
{
	const struct profile_object *object = &class->profile->objects[at.object];
	uint8_t bytes[INSTRUCTION_MAX];
	uint16_t machine;
	int n, r;

	n = symbolizer_code(class->symbolizer, object, at.offset, bytes, sizeof(bytes), &machine);
	if (n <= 0)
		return n;
	r = get_disassembler(class, machine);
	if (r < 0 || !class->disassembler)
		return r;
	return disassembler_decode(class->disassembler, bytes, (size_t)n, at.offset, ret);
}

static bool is_kernel(const struct branch_class *class, struct location at)
{
	enum object_kind kind;

	if (at.object == PROFILE_NONE)
		return at.offset >> 63;
	kind = class->profile->objects[at.object].kind;
	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE;
}

int branch_class_find(struct branch_class *class, const struct profile_branch *branch,
		      enum branch_kind *ret)
{
	struct instruction from;
	int r;

	*ret = branch->kind;
	if (branch->kind != BRANCH_UNKNOWN || branch->from.object == PROFILE_NONE)
		return 0;
	r = decode(class, branch->from, &from);
	if (r <= 0)
		return r;
	*ret = from.kind;
	if (is_kernel(class, branch->to) && from.kind != BRANCH_SYSCALL)
		*ret = BRANCH_IRQ; /* whatever the instruction is */
	return 0;
}
