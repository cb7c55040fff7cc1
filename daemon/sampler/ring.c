/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout of a ring is the kernel's: a page with the positions of both sides, then the data. The
 * positions only grow; a record lies at its position modulo the size, and may wrap around.
 */
#include "daemon/sampler/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"

struct ring {
	int fd;
	struct perf_event_mmap_page *page; /* the data follow it */
	size_t n_mapped;
	uint64_t mask; /* size of the data less 1 */
	ring_handler handler;
	void *userdata;
	void *copy; /* of a record that wraps around */
};

static int map_ring(struct ring *ring, size_t n_pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped;

	ring->n_mapped = (n_pages + 1) * page;
	ring->mask = n_pages * page - 1;
	mapped = mmap(NULL, ring->n_mapped, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	ring->page = mapped;
	return ioctl(ring->fd, PERF_EVENT_IOC_ENABLE) < 0 ? -errno : 0;
}

int ring_open(struct ring **ret, const struct ring_settings *settings)
{
	_cleanup_(ring_freep) struct ring *ring = calloc(1, sizeof(*ring));
	int r;

	if (!ring)
		return -ENOMEM;
	ring->handler = settings->handler;
	ring->userdata = settings->userdata;
	ring->copy = malloc(UINT16_MAX + 1); /* the size of a record has 16 bits */
	ring->fd = settings->fd;
	r = ring->copy ? map_ring(ring, settings->n_pages) : -ENOMEM;
	if (r < 0) {
		ring->fd = -1;
		return r;
	}
	*ret = TAKE_PTR(ring);
	return 0;
}

struct ring *ring_free(struct ring *ring)
{
	if (!ring)
		return NULL;
	if (ring->page)
		munmap(ring->page, ring->n_mapped);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring->copy);
	free(ring);
	return NULL;
}

int ring_fd(const struct ring *ring)
{
	return ring->fd;
}

static const char *data_of(const struct ring *ring)
{
	return (const char *)ring->page + (ring->n_mapped - ring->mask - 1);
}

/*
 * The record at @tail, before @head; NULL if it cannot be one. Records are aligned to 8 bytes, so a
 * header never wraps around.
 */
static const struct perf_event_header *record_at(const struct ring *ring, uint64_t tail,
						 uint64_t head)
{
	const char *data = data_of(ring);
	uint64_t at = tail & ring->mask;
	const struct perf_event_header *record = (const void *)(data + at);
	size_t n_first = ring->mask + 1 - at, n = record->size;

	if (n < sizeof(*record) || n > head - tail)
		return NULL;
	if (n <= n_first)
		return record;
	memcpy(ring->copy, record, n_first);
	memcpy((char *)ring->copy + n_first, data, n - n_first);
	return ring->copy;
}

int ring_drain(struct ring *ring, size_t most)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t begin = ring->page->data_tail, tail = begin;
	int r = 0;

	while (tail != head && tail - begin < most && r >= 0) {
		const struct perf_event_header *record = record_at(ring, tail, head);

		if (!record)
			return -EBADMSG;
		r = ring->handler(record, ring->userdata);
		tail += record->size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return r < 0 ? r : tail != head;
}
