/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/launch/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/record/perf-file.h"
#include "common/util/cleanup.h"

#define RING_PAGES  128 /* what an unprivileged user may lock for each CPU */
#define STACK_BYTES 8192
#define MAX_BYTES   (1ull << 30)

#if defined(__x86_64__)
#define USER_REGISTERS 0xff0fffull /* all but the segments of data */
#elif defined(__aarch64__)
#define USER_REGISTERS ((1ull << 33) - 1)
#else
#define USER_REGISTERS 0ull
#endif

struct recorder {
	struct perf_event_attr attr;
	struct rings rings;
	int file;
	uint64_t n_bytes; /* of the file */
	char path[32];
};

enum kind { KIND_BRANCHES, KIND_CYCLES, KIND_CLOCK, N_KINDS };

static void fill_attr(struct perf_event_attr *attr, enum kind kind)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = kind == KIND_CLOCK ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
		.config = kind == KIND_CLOCK ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = RECORDER_FREQUENCY,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
	};
	if (kind == KIND_BRANCHES) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	}
	if (USER_REGISTERS) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = USER_REGISTERS;
		attr->sample_stack_user = STACK_BYTES;
		attr->exclude_callchain_user = 1;
	}
}

/* The first kind that the machine has. */
static int choose_kind(struct recorder *recorder, pid_t pid)
{
	uint32_t n_ring_bytes = RING_PAGES * (uint32_t)sysconf(_SC_PAGESIZE);
	int fd = -ENOENT;

	for (int kind = 0; fd < 0 && fd != -EACCES && fd != -EPERM && kind < N_KINDS; kind++) {
		fill_attr(&recorder->attr, (enum kind)kind);
		recorder->attr.wakeup_watermark = n_ring_bytes / 4;
		fd = rings_open_event(&recorder->attr, pid, -1);
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int write_all(struct recorder *recorder, const void *data, size_t n)
{
	while (n > 0) {
		ssize_t done = write(recorder->file, data, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data = (const char *)data + done;
		n -= (size_t)done;
		recorder->n_bytes += (uint64_t)done;
	}
	return 0;
}

/* Before the records, and again with their number. */
static int write_head(struct recorder *recorder)
{
	struct perf_file_header header = {
		.magic = PERF_FILE_MAGIC_2,
		.n_bytes = sizeof(header),
		.attr_bytes = sizeof(recorder->attr) + sizeof(struct perf_file_section),
	};
	struct perf_file_section ids;
	int r;

	header.attrs = (struct perf_file_section){ sizeof(header), header.attr_bytes };
	ids.offset = header.attrs.offset + header.attrs.n_bytes;
	ids.n_bytes = recorder->rings.n * sizeof(*recorder->rings.ids);
	header.data.offset = ids.offset + ids.n_bytes;
	header.data.n_bytes = recorder->n_bytes > 0 ? recorder->n_bytes - header.data.offset : 0;
	r = write_all(recorder, &header, sizeof(header));
	if (r >= 0)
		r = write_all(recorder, &recorder->attr, sizeof(recorder->attr));
	if (r >= 0)
		r = write_all(recorder, &ids, sizeof(ids));
	return r < 0 ? r : write_all(recorder, recorder->rings.ids, ids.n_bytes);
}

static int open_file(struct recorder *recorder, struct fault *fault)
{
	const char *folder = getenv("TMPDIR") ?: "/tmp";
	int r;

	recorder->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (recorder->file < 0)
		return fault_set(fault, -errno,
				 "cannot write the recording into %s: %s; set TMPDIR to another "
				 "directory",
				 folder, strerror(errno));
	snprintf(recorder->path, sizeof(recorder->path), "/proc/self/fd/%d", recorder->file);
	r = write_head(recorder);
	return r < 0 ? fault_set(fault, r, "cannot write into %s: %s", folder, strerror(-r)) : 0;
}

static int refuse(int r, struct fault *fault)
{
	if (r == -EACCES || r == -EPERM)
		return fault_set(
			fault, r,
			"perf events are not permitted: run it as root, or let users profile "
			"their own programs by sysctl kernel.perf_event_paranoid=2");
	return fault_set(fault, r, "cannot open perf events: %s", strerror(-r));
}

int recorder_new(struct recorder **ret, pid_t pid, struct fault *fault)
{
	_cleanup_(recorder_freep) struct recorder *recorder = calloc(1, sizeof(*recorder));
	int r;

	if (!recorder)
		return fault_set(fault, -ENOMEM, "out of memory");
	recorder->file = -1;
	r = choose_kind(recorder, pid);
	if (r >= 0)
		r = rings_open(&recorder->rings, &recorder->attr, pid, RING_PAGES);
	if (r < 0)
		return refuse(r, fault);
	r = open_file(recorder, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(recorder);
	return 0;
}

struct recorder *recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return NULL;
	rings_done(&recorder->rings);
	if (recorder->file >= 0)
		close(recorder->file);
	free(recorder);
	return NULL;
}

const struct rings *recorder_rings(const struct recorder *recorder)
{
	return &recorder->rings;
}

static int write_records(const void *bytes, size_t n, void *userdata)
{
	return write_all(userdata, bytes, n);
}

int recorder_drain(struct recorder *recorder, struct fault *fault)
{
	const struct perf_event_header round = { RECORD_FINISHED_ROUND, 0, sizeof(round) };
	int r = rings_drain(&recorder->rings, write_records, recorder);

	if (r >= 0)
		r = write_all(recorder, &round, sizeof(round));
	if (r < 0)
		return fault_set(fault, r, "cannot write the recording: %s", strerror(-r));
	return recorder->n_bytes < MAX_BYTES ? 0 : -EFBIG;
}

/* Until now. */
static int write_number(struct recorder *recorder, struct fault *fault)
{
	uint64_t n_bytes = recorder->n_bytes;
	int r = lseek(recorder->file, 0, SEEK_SET) < 0 ? -errno : write_head(recorder);

	recorder->n_bytes = n_bytes;
	if (r >= 0 && lseek(recorder->file, 0, SEEK_END) < 0)
		r = -errno;
	return r < 0 ? fault_set(fault, r, "cannot write the recording: %s", strerror(-r)) : 0;
}

int recorder_pause(struct recorder *recorder, const char **ret, struct fault *fault)
{
	int r = recorder_drain(recorder, fault);

	if (r >= 0 || r == -EFBIG)
		r = write_number(recorder, fault);
	if (r >= 0)
		*ret = recorder->path;
	return r;
}

int recorder_finish(struct recorder *recorder, const char **ret, struct fault *fault)
{
	for (size_t i = 0; i < recorder->rings.n; i++)
		ioctl(recorder->rings.rows[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	return recorder_pause(recorder, ret, fault);
}
