/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/machine-info.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/util/cleanup.h"

/* "model name	: AMD EPYC 9R14" of the first CPU; "" if there is no such line. */
static void read_cpu(char *ret, size_t n)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	ret[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strstr(line, ": ");

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret, n, "%s", colon + 2);
		return;
	}
}

int machine_info_fill(struct profile *profile)
{
	struct profile_info *info = &profile->info;
	struct utsname names;
	char cpu[128];
	int r = 0;

	read_cpu(cpu, sizeof(cpu));
	info->cpu = profile_string(profile, cpu[0] ? cpu : NULL, &r);
	if (uname(&names) == 0) {
		info->hostname = profile_string(profile, names.nodename, &r);
		info->os_release = profile_string(profile, names.release, &r);
	}
	return r;
}
