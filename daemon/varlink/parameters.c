/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/parameters.h"

#include <string.h>

static bool read_one(const struct parameter *p, const json_t *value)
{
	if (json_is_null(value))
		return true;
	if (p->text) {
		*p->text = json_string_value(value);
		return *p->text != NULL;
	}
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*p->number = json_integer_value(value);
	return true;
}

static const struct parameter *find(const struct parameter *parameters, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(parameters[i].name, name) == 0)
			return &parameters[i];
	return NULL;
}

bool parameters_read(struct call *call, const struct parameter *parameters, size_t n)
{
	const struct parameter *p;
	const char *name;
	json_t *value;

	json_object_foreach(call->parameters, name, value) {
		p = find(parameters, n, name);
		if (p && read_one(p, value))
			continue;
		call_invalid_parameter(call, name);
		return false;
	}
	return true;
}
