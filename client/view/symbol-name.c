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

bool symbol_name_is_clone(const char *name, const char *function)
{
	static const char *const suffixes[] = { ".cold",      ".part.", ".constprop.", ".isra.",
						".lto_priv.", ".llvm.", ".localalias" };
	size_t n = strlen(function);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes) && strncmp(name, function, n) == 0; i++)
		if (strncmp(name + n, suffixes[i], strlen(suffixes[i])) == 0)
			return true;
	return false;
}
