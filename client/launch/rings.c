/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/launch/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/macro.h"

#define MAX_CPUS 4096

int rings_open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int map_ring(struct rings *rings, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped = mmap(NULL, rings->n_bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED || ioctl(fd, PERF_EVENT_IOC_ID, &rings->ids[rings->n]) < 0) {
		int r = -errno;

		if (mapped != MAP_FAILED)
			munmap(mapped, rings->n_bytes + page);
		close(fd);
		return r;
	}
	rings->rows[rings->n++] = (struct ring){ fd, mapped };
	return 0;
}

int rings_open(struct rings *rings, struct perf_event_attr *attr, pid_t pid, size_t n_pages)
{
	long n_cpus = MIN(sysconf(_SC_NPROCESSORS_CONF), (long)MAX_CPUS);
	int r = 0;

	rings->n_bytes = n_pages * (size_t)sysconf(_SC_PAGESIZE);
	rings->rows = calloc((size_t)MAX(n_cpus, 1L), sizeof(*rings->rows));
	rings->ids = calloc((size_t)MAX(n_cpus, 1L), sizeof(*rings->ids));
	if (!rings->rows || !rings->ids)
		return -ENOMEM;
	for (int cpu = 0; r >= 0 && cpu < n_cpus; cpu++) {
		int fd = rings_open_event(attr, pid, cpu);

		if (fd != -ENODEV) /* a CPU that is off */
			r = fd < 0 ? fd : map_ring(rings, fd);
	}
	return r < 0 ? r : rings->n > 0 ? 0 : -ENODEV;
}

void rings_done(struct rings *rings)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < rings->n; i++) {
		munmap(rings->rows[i].page, rings->n_bytes + page);
		close(rings->rows[i].fd);
	}
	free(rings->rows);
	free(rings->ids);
	*rings = (struct rings){};
}

static int drain_ring(struct rings *rings, struct ring *ring, rings_take take, void *userdata)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	size_t at = tail % rings->n_bytes, n = head - tail;
	size_t n_first = MIN(n, rings->n_bytes - at);
	int r = take(data + at, n_first, userdata);

	if (r >= 0 && n > n_first)
		r = take(data, n - n_first, userdata);
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return r;
}

int rings_drain(struct rings *rings, rings_take take, void *userdata)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < rings->n; i++)
		r = drain_ring(rings, &rings->rows[i], take, userdata);
	return r;
}
