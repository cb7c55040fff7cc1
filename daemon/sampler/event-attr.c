/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/event-attr.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

#define DEVICES  "/sys/bus/event_source/devices"
#define MAX_TEXT 256 /* of a file that describes a field or an event */

/* The terms of an event while they are read. */
struct reading {
	const struct event_spec *spec;
	const struct machine *machine;
	const struct pmu *pmu;
	struct perf_event_attr *attr;
	bool in_name; /* terms that a named event of the PMU stands for */
	struct fault *fault;
};

/* The file that describes a field ("format") or an event ("events"). */
static bool read_description(const struct reading *reading, const char *folder, const char *name,
			     char ret[static MAX_TEXT])
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DEVICES "/%s/%s/%s", reading->machine->root ?: "",
		 reading->pmu->name, folder, name);
	f = name[0] && name[0] != '.' ? fopen(path, "re") : NULL;
	if (!f || !fgets(ret, MAX_TEXT, f))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static __u64 *find_config(struct perf_event_attr *attr, const char *name, size_t n)
{
	if (n == strlen("config") && strncmp(name, "config", n) == 0)
		return (__u64 *)&attr->config;
	if (n == strlen("config1") && strncmp(name, "config1", n) == 0)
		return (__u64 *)&attr->config1;
	if (n == strlen("config2") && strncmp(name, "config2", n) == 0)
		return (__u64 *)&attr->config2;
	return NULL;
}

/* Spreads @value over the bits of a format such as "config:0-7,32-35". False if it does not fit or
 * the format is not understood. */
static bool put_bits(struct perf_event_attr *attr, const char *format, uint64_t value)
{
	size_t n = strcspn(format, ":");
	__u64 *config = find_config(attr, format, n);
	char *at = (char *)format + n;

	while (config && *at) {
		unsigned long first = strtoul(at + 1, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		if (last < first || last > 63 || (*at && *at != ','))
			return false;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			*config |= (value & 1) << bit;
	}
	return config && value == 0;
}

static int refuse(const struct reading *reading, const char *what, const char *why)
{
	return fault_set(reading->fault, -EOPNOTSUPP,
			 "Event=%s: '%s' %s; " DEVICES "/%s has the fields in format and the "
			 "names in events",
			 event_spec_text(reading->spec), what, why, reading->pmu->name);
}

static int set_terms(struct reading *reading, const char *terms);

/* A name without a value: a field of one bit, or an event that the PMU has by name. */
static int set_name(struct reading *reading, const char *name)
{
	char text[MAX_TEXT];
	int r;

	if (read_description(reading, "format", name, text))
		return put_bits(reading->attr, text, 1) ? 0 :
							  refuse(reading, name, "needs a value");
	if (reading->in_name || !read_description(reading, "events", name, text))
		return refuse(reading, name, "is no field and no event of the PMU");
	reading->in_name = true;
	r = set_terms(reading, text);
	reading->in_name = false;
	return r;
}

static int set_value(struct reading *reading, const char *name, const char *value)
{
	__u64 *config = find_config(reading->attr, name, strlen(name));
	char text[MAX_TEXT], *end;
	uint64_t number;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (!isdigit((unsigned char)*value) || *end || errno != 0)
		return refuse(reading, value, "is not a number");
	if (config) {
		*config |= number;
		return 0;
	}
	if (!read_description(reading, "format", name, text))
		return refuse(reading, name, "is no field of the PMU");
	return put_bits(reading->attr, text, number) ? 0 : refuse(reading, value, "is too large");
}

/* "event=0xc4,umask=0x4" */
static int set_terms(struct reading *reading, const char *terms)
{
	char copy[MAX_TEXT], *rest = copy, *term;
	int r = 0;

	snprintf(copy, sizeof(copy), "%s", terms);
	while (r >= 0 && (term = strsep(&rest, ","))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		r = value ? set_value(reading, term, value) : set_name(reading, term);
	}
	return r;
}

static const struct pmu *find_pmu(const struct machine *machine, const char *text, size_t n)
{
	for (size_t i = 0; i < machine->n_pmus; i++)
		if (strlen(machine->pmus[i].name) == n &&
		    strncmp(machine->pmus[i].name, text, n) == 0)
			return &machine->pmus[i];
	return NULL;
}

static int refuse_pmu(const struct reading *reading, size_t n)
{
	const struct machine *machine = reading->machine;
	const char *text = reading->spec->text;
	char others[128] = "";
	size_t n_others = 0;

	if (machine->n_pmus == 0)
		return fault_set(reading->fault, -EOPNOTSUPP,
				 "Event=%s: no hardware PMU: the host of a virtual machine must "
				 "pass one on",
				 text);
	for (size_t i = 0; i < machine->n_pmus && n_others < sizeof(others); i++)
		n_others += (size_t)snprintf(others + n_others, sizeof(others) - n_others, "%s%s",
					     i > 0 ? ", " : "", machine->pmus[i].name);
	return fault_set(reading->fault, -EOPNOTSUPP,
			 "Event=%s: %.*s is no PMU of this machine's CPUs: use one of %s", text,
			 (int)n, text, others);
}

static int set_pmu(struct reading *reading)
{
	const char *text = reading->spec->text;
	size_t n = strcspn(text, "/");
	char terms[EVENT_SPEC_MAX];

	reading->pmu = find_pmu(reading->machine, text, n);
	if (!reading->pmu)
		return refuse_pmu(reading, n);
	snprintf(terms, sizeof(terms), "%s", text + n + 1);
	terms[strcspn(terms, "/")] = '\0';
	reading->attr->type = reading->pmu->type;
	return set_terms(reading, terms);
}

int event_attr_set(struct perf_event_attr *ret, const struct pmu **ret_pmu,
		   const struct event_spec *spec, const struct machine *machine,
		   struct fault *fault)
{
	struct reading reading = { .spec = spec, .machine = machine, .attr = ret, .fault = fault };
	int r = 0;

	ret->precise_ip = spec->precise & 3;
	if (spec->kind == EVENT_SPEC_TERMS) {
		r = set_pmu(&reading);
	} else if (spec->kind == EVENT_SPEC_CYCLES) {
		ret->type = PERF_TYPE_HARDWARE;
		ret->config = PERF_COUNT_HW_CPU_CYCLES;
	} else {
		ret->type = spec->type;
		ret->config = spec->config;
	}
	*ret_pmu = reading.pmu;
	return r;
}
