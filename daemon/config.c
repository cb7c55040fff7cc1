/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/config/file.h"
#include "daemon/config/value.h"
#include "daemon/sampler/branch-filter.h"
#include "daemon/sampler/cpu-list.h"
#include "daemon/tiers-value.h"

#define FILE_NAME   "branchd.conf"
#define SUFFIX      ".conf"
#define DEFAULT_HZ  99
#define DEFAULT_PPM 2000 /* of each CPU */
#define MAX_CPUS    8192 /* that Linux can have */
#define DEFAULT_USE (1ULL << 30)

#define SECOND 1000000ULL
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

static const struct store_tiers default_tiers = {
	.rows = { { 10 * SECOND, HOUR },
		  { 60 * SECOND, DAY },
		  { 600 * SECOND, 7 * DAY },
		  { HOUR, 90 * DAY } },
	.n = 4,
};

struct loading {
	struct config config;
	config_warner warn;
	void *userdata;
	struct fault *fault;
};

/* Parses a value; @ret points to the member. */
typedef int (*parser)(const char *text, void *ret);

static int parse_mode(const char *text, void *ret)
{
	int mode = sampler_mode_parse(text);

	if (mode < 0)
		return -EINVAL;
	*(enum sampler_mode *)ret = (enum sampler_mode)mode;
	return 0;
}

static int parse_frequency(const char *text, void *ret)
{
	int r = config_value_count(text, ret);

	return r ?: *(uint64_t *)ret < 1 || *(uint64_t *)ret > 10000 ? -ERANGE : 0;
}

static int parse_event(const char *text, void *ret)
{
	return event_spec_parse(text, ret);
}

/* Kept as it is written: which CPUs there are may change. */
static int parse_cpus(const char *text, void *ret)
{
	bool flags[MAX_CPUS];

	if (strlen(text) >= SAMPLER_CPUS_MAX || cpu_list_parse(flags, MAX_CPUS, text) < 0 ||
	    !memchr(flags, true, sizeof(flags)))
		return -EINVAL;
	strcpy(ret, text);
	return 0;
}

static int parse_period(const char *text, void *ret)
{
	int r = config_value_count(text, ret);

	return r ?: *(uint64_t *)ret < 1 || *(uint64_t *)ret > 1000000000000 ? -ERANGE : 0;
}

static int parse_filter(const char *text, void *ret)
{
	return branch_filter_parse(text, ret);
}

static int parse_pids(const char *text, void *ret)
{
	return task_filter_parse_pids(text, ret);
}

static int parse_users(const char *text, void *ret)
{
	return task_filter_parse_users(text, ret);
}

static int parse_units(const char *text, void *ret)
{
	return task_filter_parse_units(text, ret);
}

static int parse_user_stacks(const char *text, void *ret)
{
	int stacks = sampler_user_stacks_parse(text);

	if (stacks < 0)
		return -EINVAL;
	*(enum sampler_user_stacks *)ret = (enum sampler_user_stacks)stacks;
	return 0;
}

static int parse_bool(const char *text, void *ret)
{
	return config_value_bool(text, ret);
}

/* Assigned in bytes, stored in pages. */
static int parse_ring(const char *text, void *ret)
{
	uint64_t bytes, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int r = config_value_bytes(text, &bytes);

	if (r < 0)
		return r;
	if (bytes < page || bytes > 64ULL << 20 || (bytes & (bytes - 1)) != 0)
		return -ERANGE;
	*(uint32_t *)ret = (uint32_t)(bytes / page);
	return 0;
}

static int parse_limit(const char *text, void *ret)
{
	int r = config_value_count(text, ret);

	return r ?: *(uint64_t *)ret < 1000 || *(uint64_t *)ret > 64000000 ? -ERANGE : 0;
}

static int parse_use(const char *text, void *ret)
{
	int r = config_value_bytes(text, ret);

	return r ?: *(uint64_t *)ret > 0 && *(uint64_t *)ret < 1 << 20 ? -ERANGE : 0;
}

static int parse_budget(const char *text, void *ret)
{
	double percent;
	int r;

	if (strcmp(text, "infinity") == 0)
		return (*(uint64_t *)ret = 0), 0;
	r = config_value_percent(text, &percent);
	if (r < 0 || percent < 0.01 || percent > 100)
		return r < 0 ? r : -ERANGE;
	*(uint64_t *)ret = (uint64_t)(percent * 10000 + 0.5);
	return 0;
}

static int parse_capture(const char *text, void *ret)
{
	double percent;
	int r = config_value_percent(text, &percent);

	if (r < 0 || percent < 1 || percent > 100)
		return r < 0 ? r : -ERANGE;
	*(double *)ret = percent / 100;
	return 0;
}

static int parse_hot(const char *text, void *ret)
{
	if (strcmp(text, "0") == 0 || strcmp(text, "0%") == 0)
		return (*(double *)ret = 0), 0;
	return parse_capture(text, ret);
}

static int parse_window(const char *text, void *ret)
{
	int r = config_value_span_us(text, ret);

	return r ?: *(uint64_t *)ret < 1000000 || *(uint64_t *)ret > 3600000000 ? -ERANGE : 0;
}

/* "10%", or a size. */
static int parse_free(const char *text, void *ret)
{
	struct store_keep_free keep = { 0 };
	size_t n = strlen(text);
	uint64_t percent = 0;
	char digits[8];
	int r;

	if (text[n - 1] == '%') {
		if ((size_t)snprintf(digits, sizeof(digits), "%.*s", (int)n - 1, text) >=
		    sizeof(digits))
			return -ERANGE;
		r = config_value_count(digits, &percent);
		keep.percent = (uint32_t)percent;
	} else {
		r = strcmp(text, "infinity") == 0 ? -ERANGE : config_value_bytes(text, &keep.bytes);
	}
	if (r < 0 || percent > 99)
		return r < 0 ? r : -ERANGE;
	*(struct store_keep_free *)ret = keep;
	return 0;
}

static int parse_retention(const char *text, void *ret)
{
	int r;

	if (strcmp(text, "infinity") == 0)
		return (*(uint64_t *)ret = 0), 0;
	r = config_value_span_us(text, ret);
	return r ?:
		       *(uint64_t *)ret < 1000000 || *(uint64_t *)ret > TIERS_VALUE_MAX_US ?
		       -ERANGE :
		       0;
}

static int parse_windows(const char *text, void *ret)
{
	return tiers_value_parse(text, ret);
}

static const struct key {
	const char *section, *name;
	parser parse;
	size_t offset, size;
	const char *expected;
} keys[] = {
#define MEMBER(member) offsetof(struct config, member), sizeof(((struct config *)NULL)->member)
	{ "Sampling", "Mode", parse_mode, MEMBER(sampling.mode),
	  "one of auto, software, stack, branch, stack+branch" },
	{ "Sampling", "Frequency", parse_frequency, MEMBER(sampling.frequency),
	  "a number of samples a second, 1 to 10000" },
	{ "Sampling", "Event", parse_event, MEMBER(sampling.event),
	  "cycles, branches, another name of perf-list(1) such as branch-misses, r and a code such "
	  "as r1c4, or cpu/event=0xc4,umask=0x4/; one of a PMU may end in :p, :pp or :ppp" },
	{ "Sampling", "CPUs", parse_cpus, MEMBER(sampling.cpus), "a list of CPUs such as 0-3,8" },
	{ "Sampling", "Period", parse_period, MEMBER(sampling.period),
	  "a number of events, 1 to 1000000000000" },
	{ "Sampling", "BranchFilter", parse_filter, MEMBER(sampling.branch_filter),
	  "a list, with commas, of any, any_call, any_ret, ind_call, ind_jmp, cond, call, u, k" },
	{ "Sampling", "Pids", parse_pids, MEMBER(sampling.only.pids), "at most 16 process ids" },
	{ "Sampling", "Users", parse_users, MEMBER(sampling.only.uids),
	  "at most 16 existing users, by name or number" },
	{ "Sampling", "Units", parse_units, MEMBER(sampling.only.units),
	  "at most 16 names of services or scopes" },
	{ "Sampling", "Kernel", parse_bool, MEMBER(sampling.kernel), "yes or no" },
	{ "Sampling", "UserStacks", parse_user_stacks, MEMBER(sampling.user_stacks),
	  "one of auto, tables, frame-pointers, none" },
	{ "Sampling", "CaptureShare", parse_capture, MEMBER(sampling.capture_share),
	  "a share of the samples from 1% to 100%" },
	{ "Sampling", "HotShare", parse_hot, MEMBER(sampling.hot_share),
	  "a share of the samples up to 100%, or 0" },
	{ "Sampling", "RingSize", parse_ring, MEMBER(sampling.ring_pages),
	  "a size that is a power of two, from a page to 64M" },
	{ "Sampling", "MaxStacks", parse_limit, MEMBER(max_stacks),
	  "a number from 1000 to 64000000" },
	{ "Sampling", "MaxBranches", parse_limit, MEMBER(max_branches),
	  "a number from 1000 to 64000000" },
	{ "Sampling", "CpuBudget", parse_budget, MEMBER(cpu_budget_ppm),
	  "a share of each CPU from 0.01% to 100%, or \"infinity\"" },
	{ "Symbols", "RemoteFilesystems", parse_bool, MEMBER(remote_file_systems), "yes or no" },
	{ "Store", "MaxUse", parse_use, MEMBER(max_use_bytes),
	  "a size of 1M or more, or \"infinity\"" },
	{ "Store", "KeepFree", parse_free, MEMBER(keep_free),
	  "a size such as 2G, or a share of the file system such as 10%" },
	{ "Store", "MaxRetention", parse_retention, MEMBER(max_retention_us),
	  "a time of 1s or more, or \"infinity\"" },
	{ "Store", "WindowSec", parse_window, MEMBER(window_sec_us), "a time from 1s to 1h" },
	{ "Store", "Windows", parse_windows, MEMBER(tiers),
	  "one to eight of LENGTH:TIME, such as 10s:1h 1min:1d, each longer than the one before" },
#undef MEMBER
};

void config_init(struct config *config)
{
	*config = (struct config){
		.sampling = { .mode = SAMPLER_AUTO,
			      .frequency = DEFAULT_HZ,
			      .kernel = true,
			      .capture_share = 1 },
		.cpu_budget_ppm = DEFAULT_PPM,
		.max_use_bytes = DEFAULT_USE,
		.tiers = default_tiers,
		.window_us = default_tiers.rows[0].length_us,
	};
}

static bool has_section(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i].section, name) == 0)
			return true;
	return false;
}

static void warn_unknown(const struct loading *loading, const char *path, unsigned int line,
			 const char *section, const char *key)
{
	char text[PATH_MAX + 256];

	if (!*section)
		snprintf(text, sizeof(text), "%s:%u: %.64s= is outside of any section, ignored",
			 path, line, key);
	else if (!has_section(section))
		snprintf(text, sizeof(text), "%s:%u: unknown section [%.64s], ignored", path, line,
			 section);
	else
		snprintf(text, sizeof(text), "%s:%u: unknown key %.64s= in [%.64s], ignored", path,
			 line, key, section);
	loading->warn(text, loading->userdata);
}

static int set_value(struct loading *loading, const struct key *key, const char *value)
{
	char *member = (char *)&loading->config + key->offset;
	struct config defaults;

	if (*value)
		return key->parse(value, member);
	config_init(&defaults); /* an empty value restores the default */
	memcpy(member, (char *)&defaults + key->offset, key->size);
	return 0;
}

static int on_value(const char *path, unsigned int line, const char *section, const char *name,
		    const char *value, void *userdata)
{
	struct loading *loading = userdata;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0)
			continue;
		if (set_value(loading, &keys[i], value) == 0)
			return 0;
		return fault_set(loading->fault, -EINVAL, "%s:%u: %s=%.64s: must be %s", path, line,
				 name, value, keys[i].expected);
	}
	warn_unknown(loading, path, line, section, name);
	return 0;
}

/* A drop-in, and the first directory that has it. */
struct drop_in {
	char *name;
	size_t directory;
};

struct drop_ins {
	struct drop_in *rows;
	size_t n, cap;
};

static void drop_ins_done(struct drop_ins *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->rows[i].name);
	free(list->rows);
}

static int compare_drop_ins(const void *x, const void *y)
{
	const struct drop_in *a = x, *b = y;

	return strcmp(a->name, b->name);
}

static int add_drop_in(struct drop_ins *list, const char *name, size_t directory)
{
	size_t n = strlen(name), suffix = strlen(SUFFIX);

	if (name[0] == '.' || n <= suffix || strcmp(name + n - suffix, SUFFIX) != 0)
		return 0;
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->rows[i].name, name) == 0)
			return 0;
	if (ARRAY_RESERVE(&list->rows, &list->cap, list->n + 1) < 0)
		return -ENOMEM;
	list->rows[list->n].name = strdup(name);
	if (!list->rows[list->n].name)
		return -ENOMEM;
	list->rows[list->n++].directory = directory;
	return 0;
}

static int find_drop_ins(struct drop_ins *list, const char *directory, size_t index)
{
	const struct dirent *entry;
	DIR *d = opendir(directory);
	int r = 0;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (r == 0 && (entry = readdir(d)))
		r = add_drop_in(list, entry->d_name, index);
	closedir(d);
	return r;
}

/* Whether it is a link to /dev/null, which stands for an empty file. */
static bool is_masked(const char *path)
{
	char target[sizeof("/dev/null")];
	ssize_t n = readlink(path, target, sizeof(target));

	return n == (ssize_t)strlen("/dev/null") && memcmp(target, "/dev/null", (size_t)n) == 0;
}

static int load_file(struct loading *loading, const char *path)
{
	return is_masked(path) ? 0 : config_file_read(path, on_value, loading, loading->fault);
}

static int load_main(struct loading *loading, const struct config_files *files)
{
	int r = -ENOENT;

	for (size_t i = 0; i < files->n_directories && r == -ENOENT; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", files->directories[i], files->name);
		r = load_file(loading, path);
	}
	return r;
}

static int load_drop_ins(struct loading *loading, const struct config_files *files)
{
	_cleanup_(drop_ins_done) struct drop_ins list = {};
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < files->n_directories && r == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s.d", files->directories[i], files->name);
		r = find_drop_ins(&list, path, i);
	}
	if (r < 0)
		return fault_set(loading->fault, r, "%s: %s", path, strerror(-r));
	if (list.n > 0)
		qsort(list.rows, list.n, sizeof(*list.rows), compare_drop_ins);
	for (size_t i = 0; i < list.n && r == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s.d/%s",
			 files->directories[list.rows[i].directory], files->name,
			 list.rows[i].name);
		r = load_file(loading, path);
		r = r == -ENOENT ? 0 : r; /* removed meanwhile, or a dangling link */
	}
	return r;
}

int config_load(struct config *ret, const struct config_files *files, config_warner warn,
		void *userdata, struct fault *fault)
{
	struct loading loading = { .warn = warn, .userdata = userdata, .fault = fault };
	int r;

	config_init(&loading.config);
	r = load_main(&loading, files);
	if (r == 0 || r == -ENOENT)
		r = load_drop_ins(&loading, files);
	if (r < 0)
		return r;
	loading.config.window_us =
		loading.config.window_sec_us ?: loading.config.tiers.rows[0].length_us;
	*ret = loading.config;
	return r;
}

int config_load_path(struct config *ret, const char *path, config_warner warn, void *userdata,
		     struct fault *fault)
{
	static const char *const usual[] = { "/etc/branchd", "/run/branchd",
					     "/usr/local/lib/branchd", "/usr/lib/branchd" };
	struct config_files files = { usual, ARRAY_SIZE(usual), FILE_NAME };
	_cleanup_free_ char *directory = NULL;
	const char *slash;

	if (!path)
		return config_load(ret, &files, warn, userdata, fault);
	if (access(path, R_OK) < 0)
		return fault_set(fault, -errno, "%s: %s", path, strerror(errno));
	slash = strrchr(path, '/');
	directory = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	if (!directory)
		return fault_set(fault, -ENOMEM, "no memory to read %s", path);
	files = (struct config_files){ (const char *const[]){ directory }, 1,
				       slash ? slash + 1 : path };
	return config_load(ret, &files, warn, userdata, fault);
}
