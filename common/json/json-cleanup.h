/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A variable of JSON whose reference goes with its scope. */
#pragma once

#include <jansson.h>

#include "common/util/cleanup.h"

static inline void drop_json(json_t **json)
{
	json_decref(*json);
}

#define _cleanup_json_ _cleanup_(drop_json)
