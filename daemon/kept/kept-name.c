/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/kept/kept-name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void kept_name_format(char ret[static KEPT_NAME_BYTES], const struct kept_name *name,
		      const char *suffix)
{
	const struct file_identity *file = &name->file;
	char hex[BUILD_ID_HEX_SIZE];

	snprintf(ret, KEPT_NAME_BYTES,
		 "%s-%" PRIx32 "-%" PRIx32 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%s",
		 build_id_format(hex, name->id.bytes, name->id.n), file->major, file->minor,
		 file->inode, (uint64_t)file->ctime_ns, file->n_bytes, suffix);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Where the build-id ends. */
static const char *parse_id(const char *text, struct build_id *ret)
{
	int high, low;

	for (; ret->n < sizeof(ret->bytes); text += 2) {
		high = digit(text[0]);
		low = high < 0 ? -1 : digit(text[1]);
		if (low < 0)
			break;
		ret->bytes[ret->n++] = (uint8_t)(high << 4 | low);
	}
	return text;
}

bool kept_name_parse(const char *text, const char *suffix, struct kept_name *ret)
{
	struct kept_name name = { .file.trusted = true };
	const char *rest = parse_id(text, &name.id);
	char again[KEPT_NAME_BYTES];
	uint64_t ctime_ns;

	if (name.id.n == 0 ||
	    sscanf(rest, "-%" SCNx32 "-%" SCNx32 "-%" SCNx64 "-%" SCNx64 "-%" SCNx64,
		   &name.file.major, &name.file.minor, &name.file.inode, &ctime_ns,
		   &name.file.n_bytes) != 5)
		return false;
	name.file.ctime_ns = (int64_t)ctime_ns;
	kept_name_format(again, &name, suffix);
	if (strcmp(again, text) != 0)
		return false;
	*ret = name;
	return true;
}
