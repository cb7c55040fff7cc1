/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --every of top and run: reports again and again. -EINVAL and a fault where it is used wrongly. */
#pragma once

#include "client/cli/options/options.h"
#include "common/util/fault.h"

/* @argument: NULL: the default. *@ret is never 0. */
int options_parse_every(const char *argument, uint64_t *ret_us, struct fault *fault);

/* A @word beside the option may be the span, which belongs behind '='. */
int options_check_every_word(const char *word, struct fault *fault);

/* What does not go with it. */
int options_check_every(const struct options *options, struct fault *fault);
