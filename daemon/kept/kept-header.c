/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/kept/kept-header.h"

#include <errno.h>
#include <string.h>

#include "common/checksum/crc.h"

#define CRC_FROM (offsetof(struct kept_header, crc) + sizeof(uint32_t))

void kept_header_fill(struct kept_header *ret, const struct kept_format *format,
		      const struct build_id *id)
{
	*ret = (struct kept_header){ .format = format->number, .n_build_id = id->n };
	memcpy(ret->magic, format->magic, sizeof(ret->magic));
	strncpy(ret->version, BRANCHD_VERSION, sizeof(ret->version) - 1);
	memcpy(ret->build_id, id->bytes, sizeof(ret->build_id));
}

int kept_header_write(int fd, const struct iovec *parts, size_t n)
{
	struct kept_header *header = parts[0].iov_base;
	size_t n_bytes = parts[0].iov_len;
	ssize_t written;

	header->crc = crc_add(0, (const char *)header + CRC_FROM, n_bytes - CRC_FROM);
	for (size_t i = 1; i < n; i++) {
		header->crc = crc_add(header->crc, parts[i].iov_base, parts[i].iov_len);
		n_bytes += parts[i].iov_len;
	}
	written = writev(fd, parts, (int)n);
	if (written < 0)
		return -errno;
	return (size_t)written == n_bytes ? 0 : -ENOSPC;
}

int kept_header_check(const struct kept_header *header, size_t n, const struct kept_format *format,
		      const struct build_id *id)
{
	struct kept_header expected;

	kept_header_fill(&expected, format, id);
	if (memcmp(header->magic, expected.magic, sizeof(header->magic)) != 0)
		return -EBADMSG;
	if (header->format != expected.format ||
	    memcmp(header->version, expected.version, sizeof(header->version)) != 0)
		return -ESTALE;
	if (header->n_build_id != id->n ||
	    memcmp(header->build_id, id->bytes, sizeof(header->build_id)) != 0)
		return -EBADMSG;
	return header->crc == crc_add(0, (const char *)header + CRC_FROM, n - CRC_FROM) ? 0 :
											  -EBADMSG;
}
