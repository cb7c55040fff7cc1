/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands for downloads.c where the library is not there at build time. */
#include <errno.h>

#include "client/download/downloads.h"

int downloads_new(struct downloads **ret)
{
	*ret = NULL;
	return 0;
}

struct downloads *downloads_free(struct downloads *downloads)
{
	return NULL;
}

int downloads_fetch(const struct symbolizer_wanted *wanted, void *userdata)
{
	return -ENOENT;
}
