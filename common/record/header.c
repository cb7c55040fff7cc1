/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/perf-file.h"

/* Is [offset, offset + n) inside the file? */
static bool inside(const struct mapped_file *file, uint64_t offset, uint64_t n)
{
	return offset <= file->n_bytes && n <= file->n_bytes - offset;
}

static int check_magic(const struct mapped_file *file, struct fault *fault)
{
	uint64_t magic = 0;

	memcpy(&magic, file->data, MIN(file->n_bytes, sizeof(magic)));
	switch (magic) {
	case PERF_FILE_MAGIC_2:
		return 0;
	case PERF_FILE_MAGIC_1:
		return fault_set(
			fault, -EBADMSG,
			"offset 0: written by a perf of before 2010, which cannot be read");
	case PERF_FILE_MAGIC_2_SWAPPED:
	case PERF_FILE_MAGIC_1_SWAPPED:
		return fault_set(
			fault, -EBADMSG,
			"offset 0: recorded on a big-endian machine, which cannot be read");
	}
	return fault_set(fault, -EBADMSG,
			 "offset 0: not a recording of perf's (no PERFILE2); give a file that perf "
			 "record wrote");
}

static int check_data(struct header *h, const struct mapped_file *file,
		      const struct perf_file_section *data, bool force, struct fault *fault)
{
	const char *hint = force ? "" : " (--force shows what is there)";

	if (data->offset > file->n_bytes)
		return fault_set(fault, -EBADMSG,
				 "offset 40: records should begin at %" PRIu64
				 ", but the file ends at %zu",
				 data->offset, file->n_bytes);
	h->n_bytes_missing = 0;
	h->data_start = data->offset;
	h->data_end = data->offset + data->n_bytes;
	if (data->n_bytes == 0) {
		fault_set(fault, 0,
			  "offset 48: the recording was not finished, perf record was killed%s",
			  hint);
	} else if (!inside(file, data->offset, data->n_bytes)) {
		h->n_bytes_missing = data->n_bytes - (file->n_bytes - data->offset);
		fault_set(fault, 0,
			  "offset %zu: the file ends here, %" PRIu64
			  " bytes before its records should%s",
			  file->n_bytes, h->n_bytes_missing, hint);
	} else {
		return 0;
	}
	h->data_end = file->n_bytes;
	return force ? 0 : -EBADMSG;
}

int header_read(struct header *ret, const struct mapped_file *file, bool force, struct fault *fault)
{
	struct perf_file_header h;
	int r = check_magic(file, fault);

	if (r < 0)
		return r;
	fault->text[0] = '\0';
	if (file->n_bytes < PERF_PIPE_HEADER_BYTES)
		return fault_set(fault, -EBADMSG, "offset %zu: the file ends within its header",
				 file->n_bytes);
	memcpy(&h, file->data, MIN(file->n_bytes, sizeof(h)));
	if (h.n_bytes == PERF_PIPE_HEADER_BYTES) {
		*ret = (struct header){ true, PERF_PIPE_HEADER_BYTES, file->n_bytes, 0 };
		return 0;
	}
	if (h.n_bytes != sizeof(h))
		return fault_set(fault, -EBADMSG,
				 "offset 8: a header of %" PRIu64 " bytes; 16 and %zu are known",
				 h.n_bytes, sizeof(h));
	if (file->n_bytes < sizeof(h))
		return fault_set(fault, -EBADMSG, "offset %zu: the file ends within its header",
				 file->n_bytes);
	ret->pipe = false;
	return check_data(ret, file, &h.data, force, fault);
}

int header_read_attr(struct perf_event_attr *ret, const void *p, size_t n, struct fault *fault)
{
	uint32_t size;

	if (n < PERF_ATTR_SIZE_VER0)
		return fault_set(fault, -EBADMSG, "an event described in only %zu bytes", n);
	memcpy(&size, (const char *)p + offsetof(struct perf_event_attr, size), sizeof(size));
	if (size == 0)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > n)
		return fault_set(fault, -EBADMSG,
				 "an event described in %" PRIu32 " bytes where there are %zu",
				 size, n);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, p, MIN(size, sizeof(*ret)));
	ret->size = size;
	return 0;
}

static int read_attr_entry(const struct mapped_file *file, uint64_t at, uint64_t n_bytes,
			   struct decoder *decoder, struct fault *fault)
{
	struct perf_file_section ids;
	struct perf_event_attr attr;
	struct fault inner;
	int r;

	r = header_read_attr(&attr, file->data + at, n_bytes - sizeof(ids), &inner);
	if (r < 0)
		return fault_set(fault, r, "offset %" PRIu64 ": %s", at, inner.text);
	memcpy(&ids, file->data + at + n_bytes - sizeof(ids), sizeof(ids));
	if (!inside(file, ids.offset, ids.n_bytes))
		return fault_set(fault, -EBADMSG,
				 "offset %" PRIu64 ": the ids of an event lie outside the file",
				 at + n_bytes - sizeof(ids));
	r = decoder_add_source(decoder, &attr, (const void *)(file->data + ids.offset),
			       ids.n_bytes / 8, &inner);
	if (r < 0 && r != -ENOMEM)
		return fault_set(fault, r, "offset %" PRIu64 ": %s", at, inner.text);
	return r;
}

int header_read_attrs(const struct mapped_file *file, struct decoder *decoder, struct fault *fault)
{
	struct perf_file_header h;
	int r;

	memcpy(&h, file->data, sizeof(h));
	if (h.attr_bytes < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_file_section) ||
	    h.attr_bytes > UINT16_MAX)
		return fault_set(fault, -EBADMSG,
				 "offset 16: events described in %" PRIu64 " bytes each",
				 h.attr_bytes);
	if (!inside(file, h.attrs.offset, h.attrs.n_bytes))
		return fault_set(fault, -EBADMSG,
				 "offset 24: the events' description lies outside the file");
	if (h.attrs.n_bytes < h.attr_bytes)
		return fault_set(fault, -EBADMSG, "offset 32: no event is described");
	for (uint64_t at = 0; at + h.attr_bytes <= h.attrs.n_bytes; at += h.attr_bytes) {
		r = read_attr_entry(file, h.attrs.offset + at, h.attr_bytes, decoder, fault);
		if (r < 0)
			return r;
	}
	return 0;
}

int header_read_features(const struct mapped_file *file, struct features *features,
			 struct fault *fault)
{
	struct perf_file_header h;
	uint64_t at;
	int r;

	memcpy(&h, file->data, sizeof(h));
	at = h.data.offset + h.data.n_bytes;
	for (unsigned int i = 0; i < N_FEATURES; i++) {
		struct perf_file_section s;

		if (!(h.features[i / 64] >> (i % 64) & 1))
			continue;
		if (!inside(file, at, sizeof(s)))
			return fault_set(fault, -EBADMSG,
					 "offset %" PRIu64
					 ": the table of feature sections lies outside the file",
					 at);
		memcpy(&s, file->data + at, sizeof(s));
		if (!inside(file, s.offset, s.n_bytes))
			return fault_set(fault, -EBADMSG,
					 "offset %" PRIu64
					 ": feature section %u lies outside the file",
					 at, i);
		r = features_read(features, i, file->data + s.offset, s.n_bytes);
		if (r < 0)
			return r;
		at += sizeof(s);
	}
	return 0;
}
