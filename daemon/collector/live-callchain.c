/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/live-callchain.h"

#include <linux/perf_event.h>

#include "bpf/sample.h"

/* The index of the first frame in user space, or the end. */
static uint32_t user_part(const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_callchain; i++)
		if (s->callchain[i] == PERF_CONTEXT_USER)
			return i + 1;
	return s->n_callchain;
}

bool live_callchain_truncate(struct sample *sample, const struct processes *processes,
			     const struct process_context *process_context)
{
	const struct mapping *m = NULL;

	if (process_context->space->n_mappings == 0) /* its mappings are not known */
		return false;
	for (uint32_t i = user_part(sample) + 1; i < sample->n_callchain; i++) {
		uint64_t address = sample->callchain[i];

		if (m && address >= m->start && address < m->end)
			continue;
		m = processes_locate(processes, process_context, address);
		if (!m) {
			sample->n_callchain = i;
			return true;
		}
	}
	return false;
}

bool live_callchain_is_at_limit(const struct sample *sample)
{
	uint32_t n_frames = 0;

	for (uint32_t i = 0; i < sample->n_callchain; i++) {
		n_frames = sample->callchain[i] >= PERF_CONTEXT_MAX ? 0 : n_frames + 1;
		if (n_frames == BPF_SAMPLE_MAX_FRAMES)
			return true;
	}
	return false;
}
