/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A value is numbered as a string that has its key as the first character. */
#include "client/export/otlp-attributes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/clean-text.h"
#include "client/export/otlp-fields.h"
#include "client/export/string-field.h"
#include "common/util/cleanup.h"

#define FIRST_KEY 'A'

struct otlp_attributes {
	struct string_table *values;
};

static const struct {
	const char *key;
	bool is_number;
} keys[N_OTLP_ATTRIBUTES] = {
	[OTLP_PID] = { "process.pid", true },
	[OTLP_COMM] = { "process.executable.name", false },
	[OTLP_UNIT] = { "systemd.unit", false },
	[OTLP_BUILD_ID] = { "process.executable.build_id.gnu", false },
	[OTLP_FRAME_TYPE] = { "profile.frame.type", false },
};

int otlp_attributes_new(struct otlp_attributes **ret)
{
	_cleanup_(otlp_attributes_freep) struct otlp_attributes *attributes =
		calloc(1, sizeof(*attributes));

	if (!attributes || string_table_new(&attributes->values) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(attributes);
	return 0;
}

struct otlp_attributes *otlp_attributes_free(struct otlp_attributes *attributes)
{
	if (!attributes)
		return NULL;
	string_table_free(attributes->values);
	free(attributes);
	return NULL;
}

int64_t otlp_attributes_find(struct otlp_attributes *attributes, enum otlp_attribute key,
			     const char *value)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%c%s", FIRST_KEY + (int)key, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return string_table_find(attributes->values, text);
}

static int write_row(const char *text, struct string_table *strings, struct protobuf *dictionary)
{
	struct protobuf row = {}, value = {};
	int key = text[0] - FIRST_KEY;

	if (keys[key].is_number)
		protobuf_number_of_oneof(&value, OTLP_ANY_VALUE_INT, strtoull(text + 1, NULL, 10));
	else
		protobuf_bytes(&value, OTLP_ANY_VALUE_STRING, text + 1, strlen(text + 1));
	string_field(&row, OTLP_KEY_VALUE_KEY, strings, keys[key].key);
	protobuf_message(&row, OTLP_KEY_VALUE_VALUE, &value);
	protobuf_message(dictionary, OTLP_ATTRIBUTE_TABLE, &row);
	protobuf_done(&value);
	protobuf_done(&row);
	return dictionary->r;
}

int otlp_attributes_write(const struct otlp_attributes *attributes, struct string_table *strings,
			  struct protobuf *dictionary)
{
	int r = 0;

	for (size_t i = 1; r >= 0 && i < string_table_size(attributes->values); i++)
		r = write_row(string_table_get(attributes->values, i), strings, dictionary);
	return r;
}

int otlp_attributes_put_text(struct protobuf *message, unsigned int field, const char *key,
			     const char *value)
{
	_cleanup_free_ char *clean = clean_text(value);
	struct protobuf pair = {}, any = {};

	if (!clean)
		return -ENOMEM;
	protobuf_bytes(&any, OTLP_ANY_VALUE_STRING, clean, strlen(clean));
	protobuf_bytes(&pair, OTLP_KEY_VALUE_KEY, key, strlen(key));
	protobuf_message(&pair, OTLP_KEY_VALUE_VALUE, &any);
	protobuf_message(message, field, &pair);
	protobuf_done(&any);
	protobuf_done(&pair);
	return message->r;
}
