/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin: the library that the program dlopen loads and unloads. */
#pragma once

#include "work.h"

uint32_t plugin_run(uint32_t state, unsigned n);
