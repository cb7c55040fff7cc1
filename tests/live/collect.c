/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples this machine as the daemon does, with nothing behind the collector: prints each window's
 * counts as it closes, and at the end the totals and what was hot.
 *
 *   collect [-s] [-F hz] [-m pages] [-c capture-share] [-w window-seconds] [-d seconds] [-n
 * functions]
 *
 * Ends after the seconds given, or when it is interrupted. With -s the kernel counts the runs of
 * BPF programs meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "common/symbol/symbolizer.h"
#include "common/util/cleanup.h"
#include "daemon/collector/collector.h"
#include "daemon/sampler/sampler.h"

struct options {
	struct sampler_settings sampler;
	struct collector_settings collector;
	double seconds;
	unsigned int n_functions;
	bool stats;
};

static struct options parse_options(int argc, char **argv)
{
	struct options o = {
		.sampler = { .frequency = 99, .kernel = true },
		.collector = { .window_us = 1000000, .max_queued = 8 },
		.seconds = 1e9,
		.n_functions = 20,
	};
	int c;

	while ((c = getopt(argc, argv, "sF:m:c:w:d:n:")) != -1) {
		if (c == 's')
			o.stats = true;
		else if (c == 'F')
			o.sampler.frequency = strtoull(optarg, NULL, 10);
		else if (c == 'm')
			o.sampler.ring_pages = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'c')
			o.sampler.capture_share = strtod(optarg, NULL);
		else if (c == 'w')
			o.collector.window_us = (uint64_t)(1e6 * strtod(optarg, NULL));
		else if (c == 'd')
			o.seconds = strtod(optarg, NULL);
		else if (c == 'n')
			o.n_functions = (unsigned int)strtoul(optarg, NULL, 10);
		else
			exit(EXIT_FAILURE);
	}
	return o;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_window(const struct window *w)
{
	printf("%s %" PRIu64 ".%03" PRIu64 " %.3f s: %" PRIu64 " samples, %" PRIu64 " lost\n",
	       w->open ? "part  " : "window", w->start_us / 1000000, w->start_us / 1000 % 1000,
	       1e-6 * (double)w->length_us, w->samples, w->lost);
	fflush(stdout);
}

/* Adds @profile, which it takes over, to *@sum. */
static int add_up(struct profile **sum, struct profile *profile)
{
	struct profile *both[] = { *sum, profile }, *merged = NULL;
	int r = profile_finalize(profile);

	if (r >= 0 && !*sum) {
		*sum = profile;
		return 0;
	}
	if (r >= 0)
		r = profile_merge(&merged, (const struct profile *const *)both, 2);
	profile_free(*sum);
	profile_free(profile);
	*sum = merged;
	return r;
}

/* Takes what waits. 0, or the errno that the thread ended with. */
static int take_windows(struct collector *collector, struct profile **sum)
{
	struct window_profile collected;
	struct fault fault;
	int r;

	while ((r = collector_take(collector, &collected, &fault)) > 0) {
		print_window(&collected.window);
		r = add_up(sum, collected.profile);
		if (r < 0)
			return r;
	}
	if (r < 0)
		fprintf(stderr, "collect: %s\n", fault.text);
	return r;
}

static int wait_until(double end, struct collector *collector, int signals, struct profile **sum)
{
	struct pollfd fds[] = {
		{ .fd = collector_fd(collector), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int r = 0;

	while (r >= 0 && !fds[1].revents && now() < end) {
		poll(fds, 2, (int)(1000 * MIN(end - now(), 1000.0)) + 1);
		r = take_windows(collector, sum);
	}
	return r;
}

static void print_totals(const struct sampler_counts *c, const struct profile_counters *p)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
#define PRINT(name, value) printf("%s=%" PRIu64 "\n", name, (uint64_t)(value))
	PRINT("taken", c->taken);
	PRINT("written", c->written);
	PRINT("ticked", c->ticked);
	PRINT("ring_full", c->ring_full);
	PRINT("no_ring", c->no_ring);
	PRINT("skipped", c->skipped);
	PRINT("throttled", c->throttled);
	PRINT("lost_records", c->lost_records);
	PRINT("undecodable", c->undecodable);
	PRINT("out_of_order", c->out_of_order);
	PRINT("bpf_runs", c->bpf_runs);
	PRINT("bpf_ns", c->bpf_ns);
	PRINT("in_windows", p->samples);
	PRINT("limit", p->samples_limit);
	PRINT("lost_samples", p->lost_samples);
	PRINT("unmapped", p->unmapped);
	PRINT("cpu_us", usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec +
				usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec);
	PRINT("max_rss_kib", usage.ru_maxrss);
#undef PRINT
}

/* The samples whose leaf is in one function of one process. */
struct hot {
	uint32_t process;
	struct location at; /* where the function starts, or a place in none */
	const struct profile_function *function;
	uint64_t samples;
};

#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

static int compare_places(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->process != y->process)
		return COMPARE(x->process, y->process);
	if (x->at.object != y->at.object)
		return COMPARE(x->at.object, y->at.object);
	return COMPARE(x->at.offset, y->at.offset);
}

static int compare_samples(const void *a, const void *b)
{
	return -COMPARE(((const struct hot *)a)->samples, ((const struct hot *)b)->samples);
}

static size_t add_up_places(struct hot *hot, size_t n)
{
	size_t k = 0;

	qsort(hot, n, sizeof(*hot), compare_places);
	for (size_t i = 0; i < n; i++) {
		if (k > 0 && compare_places(&hot[k - 1], &hot[i]) == 0)
			hot[k - 1].samples += hot[i].samples;
		else
			hot[k++] = hot[i];
	}
	return k;
}

static void print_hot(const struct profile *p, const struct hot *hot)
{
	const struct profile_process *process = &p->processes[hot->process];

	printf("%8" PRIu64 "  %7d %-15s %-24s %s ", hot->samples, process->pid, process->comm,
	       process->unit ? process->unit : "-",
	       hot->at.object == PROFILE_NONE ? "-" : p->objects[hot->at.object].path);
	if (hot->function)
		printf("%s\n", hot->function->name);
	else
		printf("0x%" PRIx64 "\n", hot->at.offset);
}

static int print_hottest(const struct profile *p, unsigned int n)
{
	struct hot *hot = calloc(p->n_stacks + 1, sizeof(*hot));
	size_t n_hot = 0;

	if (!hot)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		const struct profile_function *f = profile_find_function(p, s->frame);

		if (s->samples == 0)
			continue;
		hot[n_hot] = (struct hot){ s->process, s->frame, f, s->samples };
		if (f)
			hot[n_hot].at.offset = f->start;
		n_hot++;
	}
	n_hot = add_up_places(hot, n_hot);
	qsort(hot, n_hot, sizeof(*hot), compare_samples);
	for (size_t i = 0; i < n_hot && i < n; i++)
		print_hot(p, &hot[i]);
	free(hot);
	return 0;
}

static int print_profile(struct profile *p, unsigned int n)
{
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	struct symbolizer_settings settings = { 0 };
	int r;

	r = symbolizer_new(&symbolizer, &settings);
	if (r >= 0)
		r = symbolizer_add_functions(symbolizer, p);
	if (r >= 0)
		r = profile_finalize(p);
	return r < 0 ? r : print_hottest(p, n);
}

static int collect(const struct options *o, int signals, struct helpers *helpers,
		   struct fault *fault)
{
	_cleanup_(collector_freep) struct collector *collector = NULL;
	_cleanup_(profile_freep) struct profile *sum = NULL;
	struct sampler_counts counts;
	struct sampler *sampler;
	int r;

	r = sampler_open(&sampler, &o->sampler, helpers, fault);
	if (r < 0)
		return r;
	printf("mode %s, event %s; not better: %s\n",
	       sampler_mode_name(sampler_probe(sampler)->mode), sampler_probe(sampler)->event,
	       sampler_probe(sampler)->why_not_better);
	r = collector_start(&collector, sampler, &o->collector, fault);
	if (r >= 0)
		r = wait_until(now() + o->seconds, collector, signals, &sum);
	if (r < 0)
		return r;
	collector_stop(collector);
	r = take_windows(collector, &sum);
	if (r < 0 || !sum)
		return r;
	collector_get_counts(collector, &counts);
	print_totals(&counts, &sum->counters);
	return o->n_functions > 0 ? print_profile(sum, o->n_functions) : 0;
}

int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct fault fault = { .text = "" };
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (o.stats && bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) /* as long as it is open */
		fprintf(stderr, "collect: the kernel does not count runs: %s\n", strerror(errno));
	r = helpers_new(&helpers, NULL);
	if (r >= 0)
		r = collect(&o, signalfd(-1, &signals, SFD_CLOEXEC), helpers, &fault);
	if (r < 0)
		fprintf(stderr, "collect: %s\n", fault.text[0] ? fault.text : strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
