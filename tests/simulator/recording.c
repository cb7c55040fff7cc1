/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recording: what the simulator writes to perf.data.
 *
 * The attr is the one that `perf record -e instructions:u -j any,u` opens (or `--call-graph lbr`,
 * with the records' flags and cycles kept unless an option says otherwise). A round ends every 64
 * samples.
 */
#include "tests/simulator/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "tests/perfdata/perfdata.h"
#include "tests/simulator/buildid.h"
#include "tests/simulator/lbr.h"
#include "tests/simulator/options.h"
#include "tests/simulator/space.h"
#include "tests/simulator/user-state.h"

#define SAMPLES_PER_ROUND 64
#define CALLCHAIN_MAX     127 /* kernel.perf_event_max_stack */
#define EVENT_ID          1

struct object {
	char *path;
	uint8_t id[BUILDID_BYTES_MAX];
	int id_size;
};

struct recording {
	const struct options *options;
	struct perfdata *perfdata;
	struct object *objects; /* each file mapped so far, once */
	size_t n_objects;
	uint64_t n_samples;
	uint64_t first;
	uint64_t last;
};

static uint64_t options_branch_type(const struct options *o)
{
	uint64_t type = PERF_SAMPLE_BRANCH_USER;

	type |= o->is_stack ? PERF_SAMPLE_BRANCH_CALL_STACK : PERF_SAMPLE_BRANCH_ANY;
	if (!o->no_hw_idx_field)
		type |= PERF_SAMPLE_BRANCH_HW_INDEX;
	if (o->no_flags)
		type |= PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	return type;
}

static void options_fill_attr(const struct options *o, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = o->count_branches ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
					      PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = o->period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = options_branch_type(o),
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.enable_on_exec = 1,
		.sample_id_all = 1,
		.build_id = o->build_id,
	};
	if (o->is_stack || o->callchain || o->n_stack > 0)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (o->no_rows) {
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = 0;
	}
	if (o->n_stack == 0)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->mmap_data = 1;
	attr->sample_regs_user = USER_STATE_MASK;
	attr->sample_stack_user = (uint32_t)o->n_stack;
	attr->exclude_callchain_user = !o->callchain && !o->is_stack;
}

static void recording_set_features(struct recording *r)
{
	const struct options *o = r->options;
	struct utsname uts;
	char branches[16];
	const char *const caps[][2] = { { "branches", branches }, { "max_precise", "3" } };

	snprintf(branches, sizeof(branches), "%u", o->n_rows);
	uname(&uts);
	perfdata_set_string(r->perfdata, PERFDATA_HOSTNAME, uts.nodename);
	perfdata_set_string(r->perfdata, PERFDATA_OSRELEASE, uts.release);
	perfdata_set_string(r->perfdata, PERFDATA_ARCH, uts.machine);
	perfdata_set_nrcpus(r->perfdata, o->n_cpus, o->n_cpus);
	perfdata_set_string(r->perfdata, PERFDATA_CPUDESC, "simulated processor");
	perfdata_set_string(r->perfdata, PERFDATA_CPUID, "GenuineIntel,6,63,2");
	perfdata_set_cmdline(r->perfdata, o->own_argc, o->own_argv);
	if (!o->no_caps)
		perfdata_set_cpu_pmu_caps(r->perfdata, caps, 2);
}

int recording_new(struct recording **ret, const struct options *options)
{
	static const uint64_t ids[] = { EVENT_ID };
	struct perfdata_event event = { .ids = ids, .n_ids = 1 };
	struct recording *r;
	int result;

	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->options = options;
	options_fill_attr(options, &event.attr);
	event.name = options->count_branches ? "branches:u" : "instructions:u";
	result = perfdata_new(&r->perfdata, options->output, options->pipe ? PERFDATA_PIPE : 0,
			      &event, 1);
	if (result < 0) {
		free(r);
		return result;
	}
	recording_set_features(r);
	*ret = r;
	return 0;
}

static void recording_add_build_ids(struct recording *r)
{
	const struct object *object;
	size_t i;

	for (i = 0; i < r->n_objects; i++) {
		object = &r->objects[i];
		if (object->id_size > 0)
			perfdata_add_build_id(r->perfdata, PERF_RECORD_MISC_USER, -1, object->id,
					      object->id_size, object->path);
	}
}

int recording_finish(struct recording *r)
{
	perfdata_add_finished_round(r->perfdata);
	recording_add_build_ids(r);
	perfdata_set_sample_time(r->perfdata, r->first, r->last);
	return perfdata_finish(r->perfdata);
}

struct recording *recording_free(struct recording *r)
{
	size_t i;

	if (!r)
		return NULL;
	for (i = 0; i < r->n_objects; i++)
		free(r->objects[i].path);
	free(r->objects);
	perfdata_free(r->perfdata);
	free(r);
	return NULL;
}

static struct perfdata_id origin_id(const struct event_origin *m)
{
	return (struct perfdata_id){
		.pid = m->pid, .tid = m->tid, .cpu = m->cpu, .time = m->time, .id = EVENT_ID
	};
}

static void record_fill(const struct options *o, const struct lbr_record *record,
			struct perf_branch_entry *entry)
{
	*entry = (struct perf_branch_entry){ .from = record->from, .to = record->to };
	if (o->no_flags)
		return;
	entry->mispred = record->mispredicted;
	entry->predicted = !record->mispredicted;
	entry->cycles = record->cycles;
}

/* A marker, the ip, and with --callchain the callers: what the kernel's walk of frame pointers
 * gives if all have one. */
static size_t sample_fill_chain(const struct options *o, const struct recorded_sample *s,
				uint64_t *chain)
{
	size_t i, n = 0;

	if (!o->is_stack && !o->callchain)
		return 0;
	chain[n++] = PERF_CONTEXT_USER;
	chain[n++] = s->ip;
	for (i = 0; o->callchain && i < s->n_callers && n < CALLCHAIN_MAX; i++)
		chain[n++] = s->callers[i];
	return n;
}

uint64_t recording_add_sample(struct recording *r, const struct event_origin *m,
			      const struct recorded_sample *s)
{
	struct perf_branch_entry rows[LBR_RECORDS_MAX];
	uint64_t chain[CALLCHAIN_MAX];
	struct perfdata_sample sample = {
		.id = origin_id(m),
		.misc = PERF_RECORD_MISC_USER,
		.ip = s->ip,
		.period = s->period,
		.callchain = chain,
		.rows = rows,
		.n_rows = s->n_rows,
		.hw_idx = r->options->no_hw_idx ? UINT64_MAX : s->tos,
		.user_registers = s->registers,
		.user_registers_abi = PERF_SAMPLE_REGS_ABI_64,
		.user_stack = s->stack,
		.user_stack_bytes = r->options->n_stack,
		.user_stack_read = s->n_stack,
	};
	size_t i;

	for (i = 0; i < s->n_rows; i++)
		record_fill(r->options, &s->rows[i], &rows[i]);
	sample.n_callchain = sample_fill_chain(r->options, s, chain);
	perfdata_add_sample(r->perfdata, &sample);
	if (r->n_samples++ == 0)
		r->first = m->time;
	r->last = m->time;
	if (r->n_samples % SAMPLES_PER_ROUND == 0)
		perfdata_add_finished_round(r->perfdata);
	return sample.hw_idx;
}

void recording_add_comm(struct recording *r, const struct event_origin *m, const char *comm,
			bool exec)
{
	struct perfdata_id id = origin_id(m);

	perfdata_add_comm(r->perfdata, &id, m->pid, m->tid, comm, exec);
}

static int read_build_id(const char *path, uint8_t id[BUILDID_BYTES_MAX])
{
	if (strcmp(path, "[vdso]") == 0)
		return buildid_read_vdso(id);
	return path[0] == '/' ? buildid_read(path, id) : -ENOENT;
}

static struct object *recording_find_object(struct recording *r, const char *path)
{
	struct object *grown;
	size_t i;

	for (i = 0; i < r->n_objects; i++)
		if (strcmp(r->objects[i].path, path) == 0)
			return &r->objects[i];
	grown = reallocarray(r->objects, r->n_objects + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	r->objects = grown;
	grown[r->n_objects].path = strdup(path);
	if (!grown[r->n_objects].path)
		return NULL;
	grown[r->n_objects].id_size = read_build_id(path, grown[r->n_objects].id);
	return &grown[r->n_objects++];
}

void recording_add_mapping(struct recording *r, const struct event_origin *m,
			   const struct mapping *mapping)
{
	const struct object *object = recording_find_object(r, mapping->path);
	struct perfdata_id id = origin_id(m);
	struct perfdata_mmap mmap = {
		.pid = m->pid,
		.tid = m->tid,
		.start = mapping->start,
		.length = mapping->end - mapping->start,
		.pgoff = mapping->pgoff,
		.maj = mapping->maj,
		.min = mapping->min,
		.ino = mapping->ino,
		.prot = mapping->prot,
		.flags = mapping->flags,
		.misc = PERF_RECORD_MISC_USER |
			(mapping->prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA),
		.filename = mapping->path,
	};

	if (r->options->build_id && object && object->id_size > 0) {
		mmap.build_id = object->id;
		mmap.build_id_size = object->id_size;
	}
	perfdata_add_mmap2(r->perfdata, &id, &mmap);
}

void recording_add_fork(struct recording *r, const struct event_origin *m, pid_t pid, pid_t tid)
{
	struct perfdata_id id = origin_id(m);

	perfdata_add_fork(r->perfdata, &id, pid, m->pid, tid, m->tid);
}

void recording_add_exit(struct recording *r, const struct event_origin *m, pid_t ppid)
{
	struct perfdata_id id = origin_id(m);

	perfdata_add_exit(r->perfdata, &id, m->pid, ppid, m->tid, ppid);
}
