/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/machine.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/sampler/cpu-list.h"

#define DEVICES "/sys/bus/event_source/devices"

/* Reads the first line of a file, or what fits into @ret of @n bytes; "" if there is none. */
static bool read_line(char *ret, size_t n, const char *root, const char *path)
{
	char full[PATH_MAX];
	_cleanup_fclose_ FILE *f = NULL;

	ret[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "re");
	if (!f || !fgets(ret, (int)n, f))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static bool read_of_pmu(char *ret, size_t n, const char *root, const char *name, const char *what)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", name, what);
	return read_line(ret, n, root, path);
}

/* The PMU of cores is named "cpu" or lists its CPUs; other PMUs have a mask of them. */
static void add_pmu(struct machine *m, const char *root, const char *name)
{
	struct pmu pmu = { 0 };
	char text[32];

	if (!read_of_pmu(pmu.cpus, sizeof(pmu.cpus), root, name, "cpus") &&
	    strcmp(name, "cpu") != 0)
		return;
	if (m->n_pmus == MACHINE_MAX_PMUS || !read_of_pmu(text, sizeof(text), root, name, "type"))
		return;
	snprintf(pmu.name, sizeof(pmu.name), "%s", name);
	pmu.type = (uint32_t)strtoul(text, NULL, 10);
	read_of_pmu(text, sizeof(text), root, name, "caps/branches");
	pmu.depth = (uint32_t)strtoul(text, NULL, 10);
	read_of_pmu(pmu.model, sizeof(pmu.model), root, name, "caps/pmu_name");
	m->pmus[m->n_pmus++] = pmu;
}

static int compare_pmus(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

static void read_pmus(struct machine *m, const char *root)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	DIR *d;

	snprintf(path, sizeof(path), "%s" DEVICES, root);
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			add_pmu(m, root, entry->d_name);
	if (d)
		closedir(d);
	qsort(m->pmus, m->n_pmus, sizeof(m->pmus[0]), compare_pmus);
}

/* The value of the line "key	: value"; NULL if it has another key. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n + strspn(line + n, "\t ");
	return strncmp(line, ": ", 2) == 0 ? line + 2 : NULL;
}

/* The lines about the first CPU. */
struct cpuinfo {
	char vendor[16];
	unsigned long family, model, stepping;
	double mhz;
};

static void read_cpuinfo_line(struct machine *m, struct cpuinfo *info, const char *line)
{
	const char *value;

	if ((value = value_of(line, "vendor_id")))
		snprintf(info->vendor, sizeof(info->vendor), "%s", value);
	else if ((value = value_of(line, "cpu family")))
		info->family = strtoul(value, NULL, 10);
	else if ((value = value_of(line, "model")))
		info->model = strtoul(value, NULL, 10);
	else if ((value = value_of(line, "stepping")))
		info->stepping = strtoul(value, NULL, 10);
	else if ((value = value_of(line, "cpu MHz")))
		info->mhz = strtod(value, NULL);
	else if ((value = value_of(line, "flags")))
		snprintf(m->flags, sizeof(m->flags), " %s ", value);
	else if (value_of(line, "CPU implementer"))
		m->arm = true;
}

static void read_cpuinfo(struct machine *m, const char *root)
{
	struct cpuinfo info = { 0 };
	char path[PATH_MAX], line[sizeof(m->flags)];
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		line[strcspn(line, "\n")] = '\0';
		read_cpuinfo_line(m, &info, line);
	}
	if (info.vendor[0])
		snprintf(m->cpuid, sizeof(m->cpuid), "%s,%lu,%lu,%lu", info.vendor, info.family,
			 info.model, info.stepping);
	m->hz = (uint64_t)(1e6 * info.mhz);
}

void machine_read(struct machine *ret, const char *root)
{
	char text[32];

	*ret = (struct machine){ .root = root };
	read_pmus(ret, root);
	read_cpuinfo(ret, root);
	if (read_line(text, sizeof(text), root,
		      "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
		ret->hz = 1000 * strtoull(text, NULL, 10);
}

bool machine_has_flag(const struct machine *machine, const char *flag)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", flag);
	return strstr(machine->flags, word);
}

const struct pmu *machine_pmu(const struct machine *machine, uint32_t cpu)
{
	for (size_t i = 0; i < machine->n_pmus; i++)
		if (!machine->pmus[i].cpus[0] || cpu_list_has(machine->pmus[i].cpus, cpu))
			return &machine->pmus[i];
	return NULL;
}
