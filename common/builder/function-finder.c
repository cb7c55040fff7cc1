/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/function-finder.h"

bool function_finder_find(void *finder, int32_t pid, uint64_t address, struct function_range *ret)
{
	const struct function_finder *f = finder;
	struct process_context *context;
	const struct mapping *mapping;

	if (!f->find)
		return false;
	context = processes_find(f->processes, pid);
	mapping = context ? processes_locate(f->processes, context, address) : NULL;
	if (!mapping ||
	    !f->find(f->userdata, &mapping->object->what, address + mapping->shift, ret))
		return false;
	ret->start -= mapping->shift;
	ret->end -= mapping->shift;
	return ret->start <= address && address < ret->end;
}
