/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The real uid of a process: who started it, also if it is setuid. -ESRCH: it has ended. */
int64_t process_user(int32_t pid);
