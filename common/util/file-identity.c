/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/file-identity.h"

#include <sys/sysmacros.h>

void file_identity_fill(struct file_identity *ret, const struct stat *st, bool local)
{
	*ret = (struct file_identity){
		.major = major(st->st_dev),
		.minor = minor(st->st_dev),
		.inode = st->st_ino,
		.ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
		.n_bytes = (uint64_t)st->st_size,
		.uid = st->st_uid,
		.trusted = local && st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH)),
	};
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
	       a->ctime_ns == b->ctime_ns && a->n_bytes == b->n_bytes && a->uid == b->uid &&
	       a->trusted == b->trusted;
}
