/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels since 6.16 map their BTF, which saves a copy of it. */
#include "daemon/events/kernel-btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"

#define MAX_BYTES (256u << 20)

/* False if there are fewer bytes. A file in /sys gives a page at a time. */
static bool read_at(int fd, void *ret, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t k = pread(fd, (char *)ret + done, n - done, (off_t)(at + done));

		if (k <= 0)
			return false;
		done += (size_t)k;
	}
	return true;
}

/* Of what has a size. */
static int read_all(struct kernel_btf *btf, int fd)
{
	btf->bytes = mmap(NULL, btf->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	btf->is_mapped = btf->bytes != MAP_FAILED;
	if (btf->is_mapped)
		return 0;
	btf->bytes = malloc(btf->n_bytes);
	if (!btf->bytes)
		return -ENOMEM;
	return read_at(fd, btf->bytes, btf->n_bytes, 0) ? 0 : -EBADMSG;
}

int kernel_btf_open(struct kernel_btf *ret, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	int r;

	*ret = (struct kernel_btf){};
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || st.st_size > MAX_BYTES)
		return -EBADMSG;
	ret->n_bytes = (size_t)st.st_size;
	r = read_all(ret, fd);
	if (r >= 0)
		r = btf_view_init(&ret->view, ret->bytes, ret->n_bytes);
	if (r < 0)
		kernel_btf_done(ret);
	return r;
}

void kernel_btf_done(struct kernel_btf *btf)
{
	if (btf->is_mapped)
		munmap(btf->bytes, btf->n_bytes);
	else
		free(btf->bytes);
	*btf = (struct kernel_btf){};
}

static bool has_string(const char *text, size_t n, const char *name)
{
	size_t n_name = strlen(name) + 1;

	for (const char *at = text; (at = memmem(at, n - (size_t)(at - text), name, n_name)); at++)
		if (at > text && at[-1] == '\0')
			return true;
	return false;
}

bool kernel_btf_has(const char *path, const char *name)
{
	struct kernel_btf btf;
	bool has;

	if (kernel_btf_open(&btf, path) < 0)
		return false;
	has = has_string(btf.view.names, btf.view.n_names, name);
	kernel_btf_done(&btf);
	return has;
}
