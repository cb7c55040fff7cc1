/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many samples the collector sustains: the daemon's own sampler, collector and builder, on a
 * machine of 2 to 256 CPUs whose rings another process fills at full speed (ring-writer.h), 200
 * processes of 40 programs.
 *
 *     collector-scale [snapshots|stacks|rare-stacks|ticks [CPUS [SECONDS]]]
 *
 * Prints the samples counted in each second of CPU time of the collector's thread alone, and those
 * of the clock; those that the limits of a window's tables left out; and the memory at most,
 * without the rings, which are the kernel's. A tick is an entry of its own in the tables, so this
 * is the least. No privileges; two CPUs must be free. Where the time goes: `perf record -g -t
 * THREAD` of the thread "collector" meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/collector/collector.h"
#include "daemon/heap/heap.h"
#include "tests/benchmark/ring-writer.h"

#define RING_PAGES 128 /* as the daemon has them on many CPUs */
#define WINDOW_S   2
#define SECONDS    8
#define LOOK_MS    20 /* between two looks at the memory */

static const char *const names[RING_WRITER_KINDS] = { "snapshots", "stacks", "rare-stacks",
						      "ticks" };
static const uint32_t cpus[] = { 2, 8, 32, 128, 256 };

/* At a window's end. */
struct point {
	uint64_t cpu_ns, at_ns, samples, lost;
};

static void fail(const char *what, int r)
{
	fprintf(stderr, "collector-scale: %s: %s\n", what, strerror(-r));
	exit(1);
}

/* The CPU time of the thread "collector". */
static uint64_t collector_ns(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned long long ns = 0;
	struct dirent *task;

	while (tasks && (task = readdir(tasks))) {
		char path[512], comm[32] = "";
		_cleanup_fclose_ FILE *name = NULL, *times = NULL;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		name = fopen(path, "re");
		if (!name || !fgets(comm, sizeof(comm), name) || strcmp(comm, "collector\n") != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", task->d_name);
		times = fopen(path, "re");
		if (times && fscanf(times, "%llu", &ns) == 1)
			break;
	}
	if (tasks)
		closedir(tasks);
	return ns;
}

/* Its own and that of files: not what is shared, the rings. */
static double resident_mib(void)
{
	_cleanup_fclose_ FILE *status = fopen("/proc/self/status", "re");
	unsigned long long kib, sum = 0;
	char line[128];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssAnon: %llu", &kib) == 1 ||
		    sscanf(line, "RssFile: %llu", &kib) == 1)
			sum += kib;
	return (double)sum / 1024;
}

static pid_t start_writer(const struct memory_cpus *machine, enum ring_writer_kind kind)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ring_writer_run(machine, kind);
	_exit(1);
}

static struct collector *start_collector(struct helpers *helpers, enum ring_writer_kind kind)
{
	const struct sampler_settings sampling = {
		.mode = kind == RING_WRITER_SNAPSHOTS ? SAMPLER_BRANCH : SAMPLER_SOFTWARE,
		.frequency = 99,
		.ring_pages = RING_PAGES,
		.user_stacks = SAMPLER_USER_FRAME_POINTERS,
		.capture_share = kind == RING_WRITER_TICKS ? 0.5 : 0,
	};
	const struct collector_settings settings = { .window_us = WINDOW_S * 1000000,
						     .max_queued = 8 };
	struct sampler *sampler;
	struct collector *collector;
	struct fault fault;
	int r = sampler_open(&sampler, &sampling, helpers, &fault);

	if (r >= 0)
		r = collector_start(&collector, sampler, &settings, &fault);
	if (r >= 0)
		return collector;
	fprintf(stderr, "collector-scale: %s\n", fault.text);
	exit(1);
}

/* Waits for the next window; the memory at most meanwhile. */
static struct point next_window(struct collector *collector, double *most)
{
	struct pollfd fd = { .fd = collector_fd(collector), .events = POLLIN };
	struct window_profile w = { 0 };
	struct fault fault;
	struct point p;
	int r = 0;

	while (r == 0) {
		poll(&fd, 1, LOOK_MS);
		*most = MAX(*most, resident_mib());
		r = collector_take(collector, &w, &fault);
	}
	if (r < 0)
		fail(fault.text, r);
	p = (struct point){ collector_ns(), clock_ns(CLOCK_MONOTONIC), w.window.samples,
			    w.window.lost };
	window_profile_done(&w);
	return p;
}

/* The first two windows have the start in them. */
static void measure(enum ring_writer_kind kind, uint32_t n_cpus, unsigned int seconds)
{
	const struct memory_cpus *machine = memory_cpus_make(n_cpus, RING_PAGES);
	_cleanup_(collector_freep) struct collector *collector = NULL;
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct point first, last;
	double most = 0, cpu, wall;
	uint64_t samples = 0, lost = 0;
	pid_t writer;

	if (!machine)
		fail("the rings", -ENOMEM);
	writer = start_writer(machine, kind);
	if (writer < 0 || helpers_new(&helpers, "/nonexistent") < 0)
		fail("cannot start", -errno);
	collector = start_collector(helpers, kind);
	next_window(collector, &most);
	first = next_window(collector, &most);
	do { /* a machine that is slow closes several windows at once */
		last = next_window(collector, &most);
		samples += last.samples;
		lost += last.lost;
	} while (last.at_ns - first.at_ns < seconds * 1000000000ull || samples == 0);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	cpu = (double)(last.cpu_ns - first.cpu_ns) / 1e9;
	wall = (double)(last.at_ns - first.at_ns) / 1e9;
	printf("| %s | %u | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f |\n", names[kind], n_cpus,
	       (double)samples / cpu / 1000, (double)samples / wall / 1000, 100 * cpu / wall,
	       100 * (double)lost / (double)(samples + lost), most,
	       (double)(n_cpus * machine->ring_bytes) / (1 << 20));
	fflush(stdout);
}

/* A process of its own for each: memory that one has had does not count for the next. */
static bool measure_apart(enum ring_writer_kind kind, uint32_t n_cpus, unsigned int seconds)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		measure(kind, n_cpus, seconds);
		exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 3 ? (unsigned int)atoi(argv[3]) : SECONDS;
	bool ok = true;

	heap_set_up();
	printf("| | CPUs | thousands a second of its CPU time | of the clock | %% of a CPU | %% "
	       "not counted | MiB at most | MiB of rings |\n"
	       "|---|---|---|---|---|---|---|---|\n");
	fflush(stdout);
	for (int kind = 0; kind < RING_WRITER_KINDS; kind++) {
		if (argc > 1 && strcmp(argv[1], names[kind]) != 0)
			continue;
		for (size_t i = 0; i < (argc > 2 ? 1 : ARRAY_SIZE(cpus)); i++)
			ok &= measure_apart(kind, argc > 2 ? (uint32_t)atoi(argv[2]) : cpus[i],
					    seconds);
	}
	return !ok;
}
