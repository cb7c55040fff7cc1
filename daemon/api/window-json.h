/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows in replies: the type Window of io.branchd.varlink. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "common/util/macro.h"
#include "daemon/window/window.h"

/* A list of windows. */
struct window_list {
	struct window *rows;
	size_t n, cap;
};

int window_list_add(struct window_list *list, const struct window *window);
void window_list_done(struct window_list *list);

/* Writes "windows":[...]. 0, -ENOMEM or -EIO. */
int window_list_write_json(const struct window_list *list, FILE *f);
