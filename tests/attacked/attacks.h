/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What foreign code in the parser would try: system calls that harm somebody. */
#pragma once

/* Tries attack @verb with @argument: 0 if it succeeded; -errno; -ENOTSUP for an unknown verb. */
long attacks_try(const char *verb, const char *argument);
