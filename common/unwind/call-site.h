/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether an address follows a call instruction, as every return address does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_SITE_BYTES 8 /* that are looked at */

/*
 * @code: the @n bytes before the address, at most CALL_SITE_BYTES. @machine: EM_*. Machine code of
 * x86-64 cannot be read backwards, so some addresses that follow no call are taken for one.
 */
bool call_site_precedes(uint16_t machine, const uint8_t *code, size_t n);
