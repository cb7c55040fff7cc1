/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The configuration: branchd.conf and its drop-ins, in systemd's syntax and by systemd's rules. See
 * branchd.conf(5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "daemon/retention/settings.h"
#include "daemon/sampler/settings.h"

struct config {
	struct sampler_settings sampling;
	uint64_t max_stacks, max_branches; /* per window; 0: defaults */
	uint64_t cpu_budget_ppm;           /* millionths of each CPU's time; 0: no limit */
	uint64_t max_use_bytes;            /* 0: no limit */
	uint64_t window_sec_us;            /* 0: the length of the first tier */
	struct store_keep_free keep_free;
	uint64_t max_retention_us; /* 0: no limit */
	struct store_tiers tiers;
	uint64_t window_us;       /* which of both it is */
	bool remote_file_systems; /* also names programs on network file systems and FUSE */
};

/* Sets the defaults. */
void config_init(struct config *config);

/* Called with a line "FILE:LINE: ..." for each assignment or section that is ignored. */
typedef void (*config_warner)(const char *text, void *userdata);

/* The file @name and its drop-ins, in @directories, the most important first. */
struct config_files {
	const char *const *directories;
	size_t n_directories;
	const char *name;
};

/*
 * Reads @name in the first directory that has it, then *.conf in @name.d of all directories
 * in the order of their file names. Of files with the same name, the one in the first directory
 * counts; an empty file or a link to /dev/null hides the others. No file at all is no error. 0; or
 * -errno and @fault, with file and line, and *@ret unchanged.
 */
int config_load(struct config *ret, const struct config_files *files, config_warner warn,
		void *userdata, struct fault *fault);

/* Reads the usual directories; or only @path, which must exist, and its drop-ins. */
int config_load_path(struct config *ret, const char *path, config_warner warn, void *userdata,
		     struct fault *fault);
