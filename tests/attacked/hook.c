/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreign code in the parser. It runs where the parser reads the name of a symbol, if that is
 * magic: "attack:VERB:ARGUMENT", "damage:memory:SEED" or "forgery:WAY:SEED". The linker puts these
 * functions in the place of the parser's own (--wrap); all the rest is branchd-parser as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/channel/channel.h"
#include "common/object/symbol-table.h"
#include "tests/attacked/attacks.h"
#include "tests/attacked/damage.h"
#include "tests/attacked/forgery.h"

const char *__real_symbol_table_name(struct symbol_table *table, size_t i);
const char *__wrap_symbol_table_name(struct symbol_table *table, size_t i);
int __real_channel_send(int fd, const struct channel_message *message, uint64_t deadline_ns);
int __wrap_channel_send(int fd, const struct channel_message *message, uint64_t deadline_ns);

__attribute__((constructor)) static void begin(void)
{
	damage_init();
}

/* What the parser answers as the name: how the attack ended. */
static const char *attack(const char *verb, const char *argument)
{
	static char name[32];
	long r = attacks_try(verb, argument);

	if (r < 0)
		snprintf(name, sizeof(name), "refused %ld", -r);
	else
		strcpy(name, "done");
	return name;
}

const char *__wrap_symbol_table_name(struct symbol_table *table, size_t i)
{
	const char *name = __real_symbol_table_name(table, i);
	char kind[16], verb[32], argument[256] = "";

	if (!name || sscanf(name, "%15[^:]:%31[^:]:%255s", kind, verb, argument) < 2)
		return name;
	if (!strcmp(kind, "attack"))
		return attack(verb, argument);
	if (!strcmp(kind, "damage"))
		damage_do(strtoull(argument, NULL, 10));
	if (!strcmp(kind, "forgery"))
		forgery_begin(verb, argument);
	return name;
}

int __wrap_channel_send(int fd, const struct channel_message *message, uint64_t deadline_ns)
{
	return forgery_send(__real_channel_send, fd, message, deadline_ns);
}
