/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answer of a server of OTLP: an ExportProfilesServiceResponse of Protocol Buffers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The number of profiles that the server has rejected; 0 if the answer, of @n bytes, does not say
 * so, or is no such message. */
uint64_t otlp_answer_rejected(const void *answer, size_t n);
