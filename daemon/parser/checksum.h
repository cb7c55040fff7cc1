/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksum of .gnu_debuglink: CRC-32 of the whole file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False also for a file of more than 1 GiB, which is not read. */
bool checksum_matches(int fd, uint32_t expected);
