/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clean-up of what libc owns; a module's own types bring theirs with them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/macro.h"

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_   _cleanup_(cleanup_free)
#define _cleanup_close_  _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)
