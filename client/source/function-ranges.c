/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/function-ranges.h"

#include <string.h>

#include "common/symbol/symbolizer.h"
#include "common/util/fnv.h"

/* What jumps out of its callers. */
static const struct {
	const char *name;
	enum function_kind kind;
} leaving[] = {
	{ "longjmp", FUNCTION_LEAVES },
	{ "_longjmp", FUNCTION_LEAVES },
	{ "siglongjmp", FUNCTION_LEAVES },
	{ "__longjmp", FUNCTION_LEAVES },
	{ "__longjmp_chk", FUNCTION_LEAVES },
	{ "____longjmp_chk", FUNCTION_LEAVES },
	{ "__libc_longjmp", FUNCTION_LEAVES },
	{ "__libc_siglongjmp", FUNCTION_LEAVES },
	{ "__cxa_throw", FUNCTION_LEAVES },
	{ "__cxa_rethrow", FUNCTION_LEAVES },
	{ "_Unwind_RaiseException", FUNCTION_LEAVES },
	{ "_Unwind_Resume_or_Rethrow", FUNCTION_LEAVES },
	{ "_Unwind_ForcedUnwind", FUNCTION_LEAVES },
	{ "_Unwind_Resume", FUNCTION_RESUMES },
};

static enum function_kind leaving_kind(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(leaving) / sizeof(*leaving); i++)
		if (strlen(leaving[i].name) == n && memcmp(leaving[i].name, name, n) == 0)
			return leaving[i].kind;
	return FUNCTION_PLAIN;
}

/* Compilers and BOLT move code to NAME.cold or NAME.cold.N; demangled: NAME [clone .cold]. */
static void read_name(const char *name, struct function_range *ret)
{
	const char *cold = strstr(name, ".cold"), *stub = strstr(name, "@plt");
	size_t n = strlen(name);

	if (stub)
		n = (size_t)(stub - name);
	else if (cold)
		n = (size_t)(cold - name);
	if (cold && n > 8 && memcmp(cold - 8, " [clone ", 8) == 0)
		n -= 8;
	ret->kind = leaving_kind(name, n);
	if (stub && ret->kind == FUNCTION_PLAIN)
		ret->kind = FUNCTION_STUB;
	else if (cold && ret->kind == FUNCTION_PLAIN)
		ret->kind = FUNCTION_APART;
	ret->name = stub ? 0 : fnv_add(FNV_BASIS, name, n);
}

bool function_ranges_find(void *symbolizer, const struct profile_object *object, uint64_t offset,
			  struct function_range *ret)
{
	struct symbolizer_function function = { 0 };
	struct symbol symbol;
	bool is_named, has_range;

	*ret = (struct function_range){ 0 };
	is_named = symbolizer_find(symbolizer, object, offset, &symbol) > 0 && symbol.name;
	if (is_named)
		read_name(symbol.name, ret);
	has_range = symbolizer_function(symbolizer, object, offset, &function) > 0;
	ret->start = function.start;
	ret->end = function.end;
	/* The start of a PLT, all of which has one entry in the table. */
	if (is_named && strncmp(symbol.name, ".plt", 4) == 0)
		return false;
	if (function.is_outermost)
		ret->kind = FUNCTION_OUTERMOST;
	/* The stubs of a PLT have one entry in the table. */
	if (is_named && (!has_range || ret->name == 0)) {
		ret->start = symbol.start;
		ret->end = symbol.start + symbol.size;
	}
	return ret->end > ret->start;
}
