/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One file of systemd's syntax: sections of KEY=VALUE, each told with the line it stands in. */
#pragma once

#include "common/util/fault.h"

/* 0, or a negative errno, which ends the reading; then it has set the fault. */
typedef int (*config_file_handler)(const char *path, unsigned int line, const char *section,
				   const char *key, const char *value, void *userdata);

/*
 * Comments have lines of their own, beginning with '#' or ';'; a line that ends in '\' goes on in
 * the next. 0; -ENOENT if there is none at @path; what the handler said; or -errno and @fault, with
 * the line, for what is no such syntax.
 */
int config_file_read(const char *path, config_file_handler handler, void *userdata,
		     struct fault *fault);
