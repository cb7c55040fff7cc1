/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/branch-kind.h"

#include <errno.h>
#include <string.h>

#include "common/util/macro.h"

#define BIT(kind) (1u << BRANCH_##kind)

static const struct {
	const char *name;
	uint32_t kinds;
} names[] = {
	{ "cond", BIT(COND) },
	{ "jmp", BIT(JMP) },
	{ "ind_jmp", BIT(IND_JMP) },
	{ "call", BIT(CALL) },
	{ "ind_call", BIT(IND_CALL) },
	{ "ret", BIT(RET) },
	{ "syscall", BIT(SYSCALL) },
	{ "sysret", BIT(SYSRET) },
	{ "cond_call", BIT(COND_CALL) },
	{ "cond_ret", BIT(COND_RET) },
	{ "eret", BIT(ERET) },
	{ "irq", BIT(IRQ) },
	{ "serror", BIT(SERROR) },
	{ "no_tx", BIT(NO_TX) },
	{ "fault", BIT(FAULT) },
	{ "any_call", BIT(CALL) | BIT(IND_CALL) | BIT(COND_CALL) | BIT(SYSCALL) },
	{ "any_ret", BIT(RET) | BIT(COND_RET) | BIT(SYSRET) | BIT(ERET) },
};

const char *branch_kind_name(enum branch_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].kinds == 1u << kind)
			return names[i].name;
	return NULL;
}

enum branch_kind branch_kind_merge(enum branch_kind a, enum branch_kind b)
{
	if (a == BRANCH_UNKNOWN || b == BRANCH_UNKNOWN)
		return MAX(a, b);
	return MIN(a, b);
}

static uint32_t find_kinds(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
			return names[i].kinds;
	return 0;
}

int branch_kinds_parse(uint32_t *ret, const char *list)
{
	uint32_t kinds = 0;

	for (;;) {
		size_t length = strcspn(list, ",");
		uint32_t found = find_kinds(list, length);

		if (!found)
			return -EINVAL;
		kinds |= found;
		if (list[length] == '\0')
			break;
		list += length + 1;
	}
	*ret = kinds;
	return 0;
}
