/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin: the library that the program dlopen loads and unloads. */
#include "plugin.h"

static _noinline_ uint32_t plugin_inner(uint32_t state)
{
	return work(state, 30);
}

uint32_t plugin_run(uint32_t state, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		state = plugin_inner(state) + 1;
	return state;
}
