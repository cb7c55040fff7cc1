/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/output.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80

static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return DEFAULT_WIDTH;
	return size.ws_col;
}

void output_open(struct output *ret, const struct options *options)
{
	bool is_terminal = isatty(STDOUT_FILENO);

	*ret = (struct output){
		.f = stdout,
		.width = is_terminal ? terminal_width() : 0,
		.colors = color_wanted(options->color, is_terminal),
	};
	if (is_terminal && !options->no_pager && pager_open(&ret->pager) >= 0)
		ret->f = pager_file(ret->pager);
}

int output_close(struct output *output, struct fault *fault)
{
	int r = 0;

	if (fflush(output->f) != 0)
		r = -errno;
	else if (ferror(output->f))
		r = -EIO;
	pager_close(output->pager);
	output->pager = NULL;
	if (r == 0 || r == -EPIPE) /* who has seen enough leaves the pager */
		return 0;
	if (fault)
		fault_set(fault, r, "the output could not be written: %s", strerror(-r));
	return r;
}
