/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster-names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/printable.h"

#define MAX_NAMES 20000 /* that fit into a question */
#define N_SAID    5

void cluster_names_done(struct cluster_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct cluster_names){};
}

static int add(struct cluster_names *names, const char *name, struct fault *fault)
{
	if (names->n == MAX_NAMES)
		return fault_set(fault, -E2BIG, "more than %d names match: name fewer", MAX_NAMES);
	if (ARRAY_RESERVE(&names->names, &names->cap, names->n + 1) < 0 ||
	    !(names->names[names->n] = strdup(name)))
		return fault_set(fault, -ENOMEM, "out of memory");
	names->n++;
	return 0;
}

/* Some of those that there are, for a message. */
struct said {
	char text[256];
	size_t n;
};

static void note(struct said *said, const char *name)
{
	size_t n = strlen(said->text);

	if (said->n < N_SAID && *name)
		snprintf(said->text + n, sizeof(said->text) - n, "%s%.40s", n > 0 ? ", " : "",
			 name);
	said->n += *name != '\0';
}

static int explain(struct said *said, const struct cluster_names_wanted *wanted,
		   struct fault *fault)
{
	printable_make(said->text);
	if (said->n == 0)
		return fault_set(fault, -ENOENT, "nothing was sent in that time");
	return fault_set(fault, -ENOENT, "no %s is '%.128s'; in that time there are %zu: %s%s",
			 wanted->what, wanted->list, said->n, said->text,
			 said->n > N_SAID ? ", ..." : "");
}

int cluster_names_find(struct cluster_names *ret, struct cluster *cluster,
		       const struct cluster_names_wanted *wanted, struct fault *fault)
{
	struct said said = {};
	struct tsv rows;
	char *name;
	int more, r;

	if (!wanted->sql)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = cluster_ask(cluster, wanted->sql, &rows, fault);
	if (r < 0)
		return r;
	while ((more = tsv_next(&rows, &name, 1)) > 0) {
		note(&said, name);
		r = wanted->is_in(name, wanted->list) ? add(ret, name, fault) : 0;
		if (r < 0)
			return r;
	}
	if (more < 0)
		return cluster_refuse_answer(cluster, fault);
	return ret->n > 0 ? 0 : explain(&said, wanted, fault);
}
