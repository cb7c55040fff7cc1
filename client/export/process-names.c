/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/process-names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/clean-text.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct named {
	const char *comm;
	uint32_t process;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->comm, ((const struct named *)b)->comm);
}

/* Equal names are neighbours in @order. */
static int add_names(struct process_names *names, const struct named *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(order[i].comm, order[i - 1].comm) != 0) {
			names->rows[names->n] = clean_text(order[i].comm);
			if (!names->rows[names->n])
				return -ENOMEM;
			names->n++;
		}
		names->of[order[i].process] = (uint32_t)names->n - 1;
	}
	return 0;
}

int process_names_init(struct process_names *names, const struct profile *profile)
{
	_cleanup_free_ struct named *order = NULL;
	size_t n = profile->n_processes + 1;

	*names = (struct process_names){ .n_processes = profile->n_processes };
	if (ARRAY_ALLOCATE(&names->rows, n) < 0 || ARRAY_ALLOCATE(&names->of, n) < 0 ||
	    ARRAY_ALLOCATE(&order, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *comm = i < profile->n_processes ? profile->processes[i].comm : "";

		order[i] = (struct named){ *comm ? comm : "[unknown]", (uint32_t)i };
	}
	qsort(order, n, sizeof(*order), compare);
	return add_names(names, order, n);
}

void process_names_done(struct process_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->rows[i]);
	free(names->rows);
	free(names->of);
	*names = (struct process_names){};
}
