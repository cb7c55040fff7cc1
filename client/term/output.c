/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/output.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct winsize terminal_size(int fd)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 }, real;

	if (ioctl(fd, TIOCGWINSZ, &real) < 0)
		return size;
	if (real.ws_col > 0)
		size.ws_col = real.ws_col;
	if (real.ws_row > 0)
		size.ws_row = real.ws_row;
	return size;
}

void output_open(struct output *ret, const struct output_settings *settings)
{
	FILE *to = settings->to ?: stdout;
	bool is_terminal = fileno(to) >= 0 && isatty(fileno(to)); /* some streams have no file */
	struct winsize size = terminal_size(fileno(to));

	*ret = (struct output){
		.f = to,
		.width = is_terminal ? size.ws_col : 0,
		.colors = color_wanted(settings->color, is_terminal),
	};
	if (is_terminal && !settings->to && !settings->no_pager &&
	    pager_open(&ret->pager, size.ws_row - 1u) >= 0)
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
	if (r == 0 || r == -EPIPE) /* the user has left the pager */
		return 0;
	if (fault)
		fault_set(fault, r, "cannot write the output: %s", strerror(-r));
	return r;
}
