/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/annotation/head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/elide.h"
#include "client/term/text.h"
#include "client/term/wrap.h"
#include "client/view/builds.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

struct head {
	const struct annotation *annotation;
	FILE *f;
	size_t width; /* 0: unlimited */
	bool colors;
};

/* Shortens @text so that it fits beside @taken columns. */
static int write_fitting(const struct head *head, const char *text, size_t taken,
			 char *(*fit)(const char *text, size_t room))
{
	size_t room = head->width > taken ? head->width - taken : SIZE_MAX;
	_cleanup_free_ char *fitting = fit(text, room);

	if (!fitting)
		return -ENOMEM;
	text_write(head->f, fitting);
	return 0;
}

static int write_name(const struct head *head)
{
	const struct annotation *a = head->annotation;
	struct location start = { a->span->object, a->span->start };
	int r = 0;

	fputs(COLOR_BOLD(head->colors), head->f);
	if (a->span->name)
		r = write_fitting(head, a->span->name, 0, elide_name);
	else
		fprintf(head->f, "0x%" PRIx64, place_find(&a->places, start).address);
	fprintf(head->f, "%s\n", COLOR_RESET(head->colors));
	return r;
}

static void write_wrapped(const struct head *head, const char *line)
{
	wrap_write(head->f, line, head->width, 2);
	fputc('\n', head->f);
}

static int write_head(const struct head *head)
{
	const struct annotation *a = head->annotation;
	const struct profile_object *object = &a->source->all->objects[a->span->object];
	double ipc = annotation_ipc(a);
	char samples[80], runs[160], build[BUILD_ID_HEX_SIZE] = "";
	int r, n;

	if (object->n_build_id > 0 && builds_are_several(a->source->all, a->span->object))
		build_format(build, object);
	n = snprintf(samples, sizeof(samples), "%s%s: %" PRIu64 " sample%s (%.2f%%)",
		     *build ? " " : "", build, a->samples, text_plural(a->samples),
		     percent_of(a->samples, a->all_samples));
	r = write_name(head);
	fputs("in ", head->f);
	if (r >= 0)
		r = write_fitting(head, object->path, (size_t)n + strlen("in "), elide_path);
	fprintf(head->f, "%s\n", samples);
	if (a->max_coverage == 0)
		return r;
	n = snprintf(runs, sizeof(runs), "100 %% of COVER are %" PRIu64 " run%s", a->max_coverage,
		     text_plural(a->max_coverage));
	if (ipc > 0)
		n += snprintf(runs + n, sizeof(runs) - (size_t)n, "; average IPC %.2f", ipc);
	if (a->origin != CODE_NONE)
		snprintf(runs + n, sizeof(runs) - (size_t)n, "; %.0f %% of the instructions ran",
			 percent_of(a->n_ran, a->n_lines));
	write_wrapped(head, runs);
	return r;
}

static void write_limitations(const struct head *head)
{
	const struct annotation *a = head->annotation;
	char why[sizeof(a->why_no_code.text) + 32];

	snprintf(why, sizeof(why), "%s; addresses only",
		 *a->why_no_code.text ? a->why_no_code.text : "binary not found");
	if (a->origin == CODE_NONE)
		write_wrapped(head, why);
	if (a->origin == CODE_DAEMON)
		write_wrapped(head, "binary not found; the code is branchd's copy");
	if (a->origin == CODE_KERNEL)
		write_wrapped(head, "the code is the running kernel's, as it is in memory now");
	if (a->truncated)
		write_wrapped(head, "truncated: the rest of the code is missing or too long");
	if (a->max_coverage == 0)
		write_wrapped(head, "no branch records; execution counts unknown");
}

int annotation_write_head(const struct annotation *annotation, struct output *output)
{
	const struct head head = {
		.annotation = annotation,
		.f = output->f,
		.width = output->width,
		.colors = output->colors,
	};
	int r = write_head(&head);

	write_limitations(&head);
	return r;
}
