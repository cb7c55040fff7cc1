/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compresses to a stream in the format of gzip, by zlib. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "common/util/macro.h"

struct gzip;

enum gzip_aim {
	GZIP_FAST,
	GZIP_SMALL,
};

/* Borrows @f. -ENOMEM. */
int gzip_new(struct gzip **ret, FILE *f, enum gzip_aim aim);
struct gzip *gzip_free(struct gzip *gzip);
DEFINE_CLEANUP(struct gzip *, gzip_free);

void gzip_write(struct gzip *gzip, const void *bytes, size_t n);
/* Writes what is left. */
void gzip_finish(struct gzip *gzip);
