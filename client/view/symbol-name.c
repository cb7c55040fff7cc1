/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a function (".cold", ".part.0") keep their suffixes: they have code of their own. */
#include "client/view/symbol-name.h"

#include <string.h>

#include "common/util/macro.h"

char *symbol_name_strip(const char *name)
{
	static const char *const suffixes[] = { ".isra.", ".constprop.", ".lto_priv." };
	const char *end = name + strlen(name), *found;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		found = strstr(name, suffixes[i]);
		if (found && found < end)
			end = found;
	}
	found = strstr(name, " [clone ");
	if (found && *end && found < end) /* as demangled: "work(int) [clone .isra.0]" */
		end = found;
	return strndup(name, (size_t)(end - name));
}
