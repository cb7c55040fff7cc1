/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/cores.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"

#define DEVICES "/sys/bus/event_source/devices"

static bool is_core(const char *root, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DEVICES "/%s/cpus", root, name);
	return strcmp(name, "cpu") == 0 || access(path, F_OK) == 0;
}

static bool has_type(const char *root, const char *name, uint32_t type)
{
	_cleanup_fclose_ FILE *f = NULL;
	unsigned int found;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DEVICES "/%s/type", root, name);
	f = fopen(path, "re");
	return f && fscanf(f, "%u", &found) == 1 && found == type;
}

bool cores_have(const char *root, uint32_t type)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s" DEVICES, root);
	d = opendir(path);
	while (d && !found && (entry = readdir(d)))
		found = entry->d_name[0] != '.' && has_type(root, entry->d_name, type) &&
			is_core(root, entry->d_name);
	if (d)
		closedir(d);
	return found;
}
