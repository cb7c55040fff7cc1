/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each CPU has one ring, into which the BPF program writes samples and the kernel what happens to
 * tasks, all by one clock. A drain copies what the rings hold, so that they are empty again at once;
 * the records then wait in an order until they can be told in the order of their time.
 */
#include "daemon/sampler.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "bpf/sample.h"
#include "common/record/chunk.h"
#include "common/record/decoder.h"
#include "common/record/order.h"
#include "common/util/cleanup.h"
#include "daemon/cpu-events.h"
#include "daemon/cpu-list.h"
#include "daemon/file-ids.h"
#include "daemon/live-sample.h"
#include "daemon/probe.h"
#include "daemon/program.h"
#include "daemon/running-kernel.h"
#include "daemon/running.h"

#define RING_PAGES    64
#define FOLLOW_NS     1000000000ull  /* how often CPUs that come and go are looked for */
#define DEAD_NS       2000000000ull  /* a clock that has not ticked for so long is stopped */
#define LOOK_AGAIN_NS 10000000000ull /* at most so often is /proc looked through */
#define DRAIN_EVERY   256            /* events told of what runs already */

/* Counted by the thread that drains, for others to read. */
struct tally {
	_Atomic uint64_t undecodable, throttled, lost, out_of_order;
	_Atomic uint32_t n_cpus;
};

struct sampler {
	struct sampler_settings settings;
	struct probe_result probe;
	struct program *program;
	struct cpu_events **cpus; /* by number of the CPU; NULL of those off line */
	uint32_t n_cpus;
	int epoll_fd;
	struct decoder *decoder;
	struct order *order;
	struct chunk *chunk; /* that records are copied into */
	struct file_ids *file_ids;
	struct tally tally;
	uint64_t followed_ns, looked_ns;
	uint64_t lost_seen; /* records of tasks lost when /proc was looked through last */
	bool looked, started, stopped;
};

/* A walk through what runs already, between whose events the rings are drained. */
struct looking {
	struct sampler *sampler;
	sampler_handler handler;
	void *userdata;
	unsigned int n_told;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* A place for @n bytes in the chunk, or in a new one. NULL: no memory. */
static void *reserve(struct sampler *s, size_t n)
{
	n = (n + 7) & ~(size_t)7;
	if (!s->chunk || CHUNK_BYTES - s->chunk->n_used < n) {
		chunk_unref(s->chunk);
		s->chunk = chunk_new(0);
		if (!s->chunk)
			return NULL;
	}
	s->chunk->n_used += n;
	return s->chunk->data + s->chunk->n_used - n;
}

/* Takes a record out of a ring. */
static int on_record(const struct perf_event_header *record, void *userdata)
{
	struct sampler *s = userdata;
	struct waiting w = { 0 };
	void *copy = reserve(s, record->size);
	int r;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, record, record->size);
	w.record = copy;
	decoder_time(s->decoder, w.record, &w.time_ns);
	w.chunk = chunk_ref(s->chunk);
	r = order_add(s->order, &w);
	if (r < 0)
		chunk_unref(w.chunk);
	return r;
}

static int open_cpu(struct sampler *s, uint32_t cpu, struct fault *fault)
{
	const struct cpu_events_settings settings = {
		.sampling = &s->probe.attr,
		.ring_pages = s->settings.ring_pages,
	};
	_cleanup_(cpu_events_freep) struct cpu_events *events = NULL;
	struct epoll_event watch = { .events = EPOLLIN };
	int r;

	r = cpu_events_open(&events, cpu, s->program, &settings, on_record, s, fault);
	if (r < 0)
		return r;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, ring_fd(cpu_events_ring(events)), &watch) < 0)
		return -errno;
	s->cpus[cpu] = TAKE_PTR(events);
	s->tally.n_cpus++;
	return 0;
}

static int close_cpu(struct sampler *s, uint32_t cpu)
{
	int r;

	cpu_events_stop(s->cpus[cpu]);
	r = ring_drain(cpu_events_ring(s->cpus[cpu]));
	s->cpus[cpu] = cpu_events_free(s->cpus[cpu]);
	s->tally.n_cpus--;
	return r;
}

/* One that goes off line meanwhile is no fault. */
static int open_online_cpus(struct sampler *s, struct fault *fault)
{
	_cleanup_free_ bool *online = NULL;
	int r = cpu_list_read_online(&online, s->n_cpus);

	if (r < 0)
		return fault_set(fault, r, "cannot read which CPUs are on line: %s", strerror(-r));
	for (uint32_t cpu = 0; cpu < s->n_cpus; cpu++) {
		r = online[cpu] ? open_cpu(s, cpu, fault) : 0;
		if (r < 0 && r != -ENODEV)
			return r;
	}
	return 0;
}

static int open_decoder(struct sampler *s, struct fault *fault)
{
	struct perf_event_attr attr = s->probe.attr;
	int r;

	attr.sample_type = CPU_EVENTS_SAMPLE_TYPE;
	attr.sample_id_all = 1;
	r = file_ids_new(&s->file_ids);
	if (r >= 0)
		r = decoder_new(&s->decoder);
	if (r >= 0)
		r = decoder_add_source(s->decoder, &attr, NULL, 0, fault);
	return r < 0 ? r : order_new(&s->order, 0);
}

/* In a pid namespace of its own it would be told other numbers of tasks than the BPF program sees. */
static int check_namespace(struct fault *fault)
{
	char name[64] = "";

	if (readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 ||
	    strcmp(name, "pid:[4026531836]") == 0)
		return 0;
	return fault_set(fault, -EPERM,
			 "this is a pid namespace (a container's): run in that of the host, for "
			 "example with --pid=host");
}

static int sampler_init(struct sampler *s, const struct sampler_settings *settings,
			struct fault *fault)
{
	struct program_settings program = { .kernel = settings->kernel, .user = true };
	int r;

	s->settings = *settings;
	s->settings.ring_pages = settings->ring_pages ? settings->ring_pages : RING_PAGES;
	if (s->settings.ring_pages & (s->settings.ring_pages - 1))
		return fault_set(fault, -EINVAL, "a ring cannot be of %u pages: no power of two",
				 s->settings.ring_pages);
	r = check_namespace(fault);
	if (r >= 0)
		r = probe_run(&s->probe, settings, cpu_list_first_online(), NULL, NULL, fault);
	if (r < 0)
		return r;
	program.period_ns = s->probe.ticks_when_idle ? s->probe.attr.sample_period : 0;
	r = program_load(&s->program, &program, fault);
	if (r < 0)
		return r;
	s->n_cpus = program_n_cpus(s->program);
	s->cpus = calloc(s->n_cpus, sizeof(struct cpu_events *));
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->cpus || s->epoll_fd < 0)
		return -ENOMEM;
	r = open_decoder(s, fault);
	return r < 0 ? r : open_online_cpus(s, fault);
}

int sampler_open(struct sampler **ret, const struct sampler_settings *settings, struct fault *fault)
{
	_cleanup_(sampler_freep) struct sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	fault->text[0] = '\0';
	s->epoll_fd = -1;
	r = sampler_init(s, settings, fault);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	*ret = TAKE_PTR(s);
	return 0;
}

struct sampler *sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return NULL;
	for (uint32_t cpu = 0; cpu < sampler->n_cpus && sampler->cpus; cpu++)
		cpu_events_free(sampler->cpus[cpu]);
	free(sampler->cpus);
	if (sampler->epoll_fd >= 0)
		close(sampler->epoll_fd);
	program_free(sampler->program);
	order_free(sampler->order);
	chunk_unref(sampler->chunk);
	decoder_free(sampler->decoder);
	file_ids_free(sampler->file_ids);
	free(sampler);
	return NULL;
}

const struct sampler_probe *sampler_probe(const struct sampler *sampler)
{
	return &sampler->probe.what;
}

int sampler_fd(const struct sampler *sampler)
{
	return sampler->epoll_fd;
}

static int drain_rings(struct sampler *s)
{
	int r = 0;

	for (uint32_t cpu = 0; cpu < s->n_cpus && r >= 0; cpu++)
		if (s->cpus[cpu])
			r = ring_drain(cpu_events_ring(s->cpus[cpu]));
	return r;
}

static int on_running(const struct event *event, void *userdata)
{
	struct looking *l = userdata;
	int r = l->handler(event, l->userdata);

	if (r >= 0 && ++l->n_told % DRAIN_EVERY == 0)
		r = drain_rings(l->sampler);
	return r;
}

/* Another CPU writes them meanwhile; each by itself is whole. */
static uint64_t read_counter(const __u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/*
 * Records of tasks that found a ring full: the kernel tells, with the next record that finds room, how
 * many of any kind did not, and the BPF program knows how many were its own.
 */
static uint64_t count_lost_records(const struct sampler *s)
{
	uint64_t lost = get(&s->tally.lost), n_samples = 0;

	for (uint32_t cpu = 0; cpu < s->n_cpus; cpu++)
		n_samples += read_counter(&program_counters(s->program, cpu)->ring_full);
	return lost > n_samples ? lost - n_samples : 0;
}

/*
 * Tells what runs already. What the rings tell then may be older, and some of it known by now; but
 * it ends with what is so.
 */
static int look_around(struct sampler *s, sampler_handler handler, void *userdata)
{
	struct looking l = { .sampler = s, .handler = handler, .userdata = userdata };
	int r = 0;

	s->looked_ns = now_ns();
	s->lost_seen = count_lost_records(s);
	if (!s->looked)
		r = running_kernel_tell(on_running, &l);
	s->looked = true;
	return r < 0 ? r : running_tell(s->file_ids, on_running, &l);
}

/* By the clock a CPU ticks even if it is idle; the event of one that went and came back does not. */
static bool is_dead(const struct sampler *s, uint32_t cpu, uint64_t now)
{
	uint64_t due_ns = program_counters(s->program, cpu)->due_ns;

	return s->probe.ticks_when_idle && due_ns != 0 && now > due_ns + DEAD_NS;
}

static int follow_cpu(struct sampler *s, uint32_t cpu, bool online, uint64_t now)
{
	struct fault fault;
	int r = 0;

	if (s->cpus[cpu] && (!online || is_dead(s, cpu, now)))
		r = close_cpu(s, cpu);
	if (r < 0 || s->cpus[cpu] || !online)
		return r;
	if (open_cpu(s, cpu, &fault) < 0) /* it went again, or descriptors ran out: later */
		return 0;
	return cpu_events_start(s->cpus[cpu]);
}

static int follow_cpus(struct sampler *s, uint64_t now)
{
	_cleanup_free_ bool *online = NULL;
	int r = 0;

	if (now - s->followed_ns < FOLLOW_NS)
		return 0;
	s->followed_ns = now;
	if (cpu_list_read_online(&online, s->n_cpus) < 0)
		return 0;
	for (uint32_t cpu = 0; cpu < s->n_cpus && r >= 0; cpu++)
		r = follow_cpu(s, cpu, online[cpu], now);
	return r;
}

static int start(struct sampler *s)
{
	int r = 0;

	s->started = true;
	for (uint32_t cpu = 0; cpu < s->n_cpus && r >= 0; cpu++)
		if (s->cpus[cpu])
			r = cpu_events_start(s->cpus[cpu]);
	return r;
}

/* What the decoder or the BPF program says wrong is counted; it ends nothing. */
static int tell_record(struct sampler *s, const struct perf_event_header *record,
		       sampler_handler handler, void *userdata)
{
	struct fault fault;
	struct event e;
	int r = decoder_decode(s->decoder, record, &e, &fault);

	if (r >= 0 && e.kind == EVENT_SAMPLE)
		r = live_sample_decode(&e);
	if (r >= 0 && e.kind == EVENT_MAPPING && e.mapping.executable)
		r = file_ids_fill(s->file_ids, e.pid, &e.mapping);
	if (r == -EBADMSG) {
		add(record->type == PERF_RECORD_SAMPLE ? &s->tally.undecodable : &s->tally.lost, 1);
		return 0;
	}
	if (r < 0)
		return r;
	if (e.kind ==
	    EVENT_LOST) /* of samples and of others: the sampler's counts tell them apart */
		add(&s->tally.lost, e.lost.n);
	if (e.kind == EVENT_THROTTLE)
		add(&s->tally.throttled, 1);
	return handler(&e, userdata);
}

static int tell_records(struct sampler *s, sampler_handler handler, void *userdata)
{
	struct waiting w;
	int r = 0;

	while (r >= 0 && order_next(s->order, &w)) {
		r = tell_record(s, w.record, handler, userdata);
		chunk_unref(w.chunk);
	}
	atomic_store_explicit(&s->tally.out_of_order, order_n_late(s->order), memory_order_relaxed);
	return r;
}

/* Records of tasks were lost: what is known of them may be wrong from then on. */
static bool must_look_again(const struct sampler *s, uint64_t now)
{
	return now - s->looked_ns >= LOOK_AGAIN_NS && count_lost_records(s) > s->lost_seen;
}

int sampler_drain(struct sampler *sampler, sampler_handler handler, void *userdata)
{
	uint64_t now = now_ns();
	int r = 0;

	if (!sampler->looked || must_look_again(sampler, now))
		r = look_around(sampler, handler, userdata);
	if (r >= 0 && !sampler->started)
		r = start(sampler);
	if (r >= 0 && !sampler->stopped)
		r = follow_cpus(sampler, now);
	if (r >= 0)
		r = drain_rings(sampler);
	if (r >= 0)
		r = order_finish_round(sampler->order);
	return r < 0 ? r : tell_records(sampler, handler, userdata);
}

int sampler_finish(struct sampler *sampler, sampler_handler handler, void *userdata)
{
	int r;

	sampler->stopped = true;
	for (uint32_t cpu = 0; cpu < sampler->n_cpus; cpu++)
		if (sampler->cpus[cpu])
			cpu_events_stop(sampler->cpus[cpu]);
	r = drain_rings(sampler);
	if (r >= 0)
		r = order_finish(sampler->order);
	return r < 0 ? r : tell_records(sampler, handler, userdata);
}

void sampler_get_counts(const struct sampler *sampler, struct sampler_counts *ret)
{
	const struct tally *t = &sampler->tally;
	struct sampler_counts c = { 0 };
	uint64_t skipped = 0;

	for (uint32_t cpu = 0; cpu < sampler->n_cpus; cpu++) {
		const struct bpf_counters *b = program_counters(sampler->program, cpu);

		c.taken += read_counter(&b->taken);
		c.idle += read_counter(&b->idle);
		c.written += read_counter(&b->written);
		c.ring_full += read_counter(&b->ring_full);
		c.no_ring += read_counter(&b->no_ring);
		skipped += read_counter((const __u64 *)&b->skipped);
	}
	c.skipped = (int64_t)skipped > 0 ? skipped : 0;
	c.lost_records = count_lost_records(sampler);
	c.undecodable = get(&t->undecodable);
	c.throttled = get(&t->throttled);
	c.out_of_order = get(&t->out_of_order);
	c.n_cpus = atomic_load_explicit(&t->n_cpus, memory_order_relaxed);
	program_get_run_time(sampler->program, &c.bpf_ns, &c.bpf_runs);
	*ret = c;
}
