/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbols of the kernel, without its modules, kept on disk between starts of branchd. */
#pragma once

#include "common/symbol/symbolizer-types.h"
#include "daemon/kept/kept-files.h"

/* Where they are kept. As kept_files_open(), of which @settings have the directory alone. */
int kept_symbols_open(struct kept_files **ret, const struct kept_files_settings *settings);

/* Keeps them in @kept, which it borrows. */
struct symbol_keeper kept_symbols_keeper(struct kept_files *kept);
