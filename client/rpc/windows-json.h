/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows and marks as the daemon sends them: they are added to the list @ret. */
#pragma once

#include <stddef.h>

#include <jansson.h>

#include "client/rpc/windows.h"
#include "common/util/fault.h"

/* Texts of arrays. 0; or -errno and @fault: -EBADMSG if they are not what the daemon sends. */
int windows_read(struct windows *ret, const char *text, size_t n_bytes, struct fault *fault);
int windows_read_marks(struct windows *ret, const char *text, size_t n_bytes, struct fault *fault);

/* A single mark, as above. */
int windows_read_mark(struct windows *ret, json_t *json, struct fault *fault);
