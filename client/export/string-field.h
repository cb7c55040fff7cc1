/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields of messages whose strings are in a table of the profile, by their numbers. When memory
 * runs out, the message has failed. */
#pragma once

#include "client/export/protobuf.h"
#include "client/export/string-table.h"

/* The number of @s. */
void string_field(struct protobuf *message, unsigned int field, struct string_table *strings,
		  const char *s);

/* A ValueType: what is counted, and in which unit. */
void string_field_value_type(struct protobuf *message, unsigned int field,
			     struct string_table *strings, const char *type, const char *unit);
