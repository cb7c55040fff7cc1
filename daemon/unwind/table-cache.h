/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unwind tables on disk, see kept-files.h. Only tables of trusted files may be put here. */
#pragma once

#include "common/unwind/table.h"
#include "daemon/kept/kept-files.h"

/* As kept_files_open(), of which the directory and the limits are set. */
int table_cache_open(struct kept_files **ret, const struct kept_files_settings *settings);

/* As kept_files_get(): 1 and *@ret, for unwind_table_done(); 0; -ENOMEM. */
int table_cache_get(struct kept_files *cache, const struct build_id *id,
		    const struct file_identity *file, struct unwind_table *ret);

/* As kept_files_put(). */
void table_cache_put(struct kept_files *cache, const struct build_id *id,
		     const struct file_identity *file, const struct unwind_table *table);
