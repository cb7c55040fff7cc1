/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/string-field.h"

/* The same in pprof and in OTLP. */
enum value_type_field {
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT,
};

void string_field(struct protobuf *message, unsigned int field, struct string_table *strings,
		  const char *s)
{
	int64_t number = string_table_find(strings, s);

	if (number < 0)
		message->r = (int)number;
	else
		protobuf_number(message, field, (uint64_t)number);
}

void string_field_value_type(struct protobuf *message, unsigned int field,
			     struct string_table *strings, const char *type, const char *unit)
{
	struct protobuf value = {};

	string_field(&value, VALUE_TYPE_TYPE, strings, type);
	string_field(&value, VALUE_TYPE_UNIT, strings, unit);
	protobuf_message(message, field, &value);
	protobuf_done(&value);
}
