/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/mapped-file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/util/cleanup.h"
#include "common/util/thread.h"

#define PIECE_BYTES ((size_t)16 << 20) /* a multiple of the page size of each machine */
#define PAGE_BYTES  4096u              /* at least; for rounding down only */

static int spool(int from, FILE *to)
{
	char buffer[64 * 1024];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (fwrite(buffer, 1, (size_t)n, to) != (size_t)n)
			return -errno;
	}
	return fflush(to) == 0 ? 0 : -errno;
}

static int map(struct mapped_file *ret, int fd, const char *path, struct fault *fault)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return fault_set(fault, -errno, "%s: %s", path, strerror(errno));
	if (st.st_size == 0)
		return fault_set(fault, -ENODATA, "%s: is empty", path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return fault_set(fault, -errno, "%s: cannot be mapped: %s", path, strerror(errno));
	ret->data = p;
	ret->n_bytes = (size_t)st.st_size;
	return 0;
}

int mapped_file_open(struct mapped_file *ret, const char *path, struct fault *fault)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_fclose_ FILE *copy = NULL;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_set(fault, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fault_set(fault, -EISDIR,
				 "%s: is a directory; recordings that `perf record --threads` "
				 "wrote as one cannot be read",
				 path);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return fault_set(fault, -EINVAL, "%s: is a device, not a recording", path);
	if (S_ISREG(st.st_mode))
		return map(ret, fd, path, fault);

	copy = tmpfile();
	r = copy ? spool(fd, copy) : -errno;
	if (r < 0)
		return fault_set(fault, r, "%s: cannot be copied to a temporary file: %s", path,
				 strerror(-r));
	return map(ret, fileno(copy), path, fault);
}

/* In pieces, so that who maps or unmaps something else meanwhile does not wait for all of it. */
static void unmap(const struct mapped_file *file)
{
	for (size_t at = 0; at < file->n_bytes; at += PIECE_BYTES)
		munmap((void *)(file->data + at), MIN(file->n_bytes - at, PIECE_BYTES));
}

static void *run(void *userdata)
{
	struct mapped_file *file = userdata;

	unmap(file);
	free(file);
	return NULL;
}

/* In a thread that nobody waits for. */
static int unmap_in_thread(const struct mapped_file *file)
{
	struct mapped_file *copy = malloc(sizeof(*copy));
	pthread_t thread;
	int r;

	if (!copy)
		return -ENOMEM;
	*copy = *file;
	r = thread_start(&thread, run, copy);
	if (r < 0)
		free(copy);
	else
		pthread_detach(thread);
	return r;
}

void mapped_file_close(struct mapped_file *file)
{
	if (file->data && (file->n_bytes <= PIECE_BYTES || unmap_in_thread(file) < 0))
		unmap(file);
	*file = (struct mapped_file){ 0 };
}

void mapped_file_read_ahead(const struct mapped_file *file, size_t at, size_t n_bytes)
{
#ifdef MADV_POPULATE_READ
	size_t start = at & ~(size_t)(PAGE_BYTES - 1);

	if (start < file->n_bytes)
		madvise((void *)(file->data + start), MIN(n_bytes + at, file->n_bytes) - start,
			MADV_POPULATE_READ);
#endif
}
