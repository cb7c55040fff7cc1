/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/mappings.h"

#include <string.h>

#include "common/symbol/vdso.h"

void mappings_init(struct mappings *mappings)
{
	*mappings = (struct mappings){};
	if (vdso_get_build_id(&mappings->vdso) < 0)
		mappings->vdso.n = 0;
}

/* All 64-bit processes share one vDSO. 32-bit processes have another one, below 4 GiB. */
static bool is_vdso(const struct mapping_event *mapping)
{
	return strcmp(mapping->path, "[vdso]") == 0 && mapping->address >> 32 != 0;
}

void mappings_tell(const struct mappings *mappings)
{
	if (mappings->files)
		mapped_files_tell(mappings->files);
}

void mappings_note(const struct mappings *mappings, int32_t pid, struct mapping_event *mapping)
{
	if (is_vdso(mapping)) {
		memcpy(mapping->build_id, mappings->vdso.bytes, sizeof(mapping->build_id));
		mapping->n_build_id = mappings->vdso.n;
	} else if (mappings->files) {
		mapped_files_put(mappings->files, pid, mapping);
	}
}
