/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/recording-state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/record/event-name.h"
#include "common/util/array.h"

/* Names are in the order of the sources: by the ids they carry, or else by their place. */
static const char *name_from_features(const struct recording *r, uint32_t source)
{
	for (size_t i = 0; i < r->features.n_names; i++) {
		const struct feature_name *n = &r->features.names[i];
		uint64_t id;

		if (n->n_ids == 0)
			continue;
		memcpy(&id, n->ids, sizeof(id));
		if (decoder_find_source(r->decoder, id) == source)
			return n->name;
	}
	if (source < r->features.n_names && r->features.names[source].n_ids == 0)
		return r->features.names[source].name;
	return NULL;
}

int recording_state_fill_names(struct recording *r)
{
	size_t n = decoder_n_sources(r->decoder);
	char text[64];

	if (ARRAY_RESERVE(&r->names, &r->cap_names, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = name_from_features(r, (uint32_t)i);

		if (name) {
			r->names[i] = name;
		} else if (i >= r->n_names) {
			event_name_format(text, sizeof(text),
					  decoder_attr(r->decoder, (uint32_t)i));
			r->names[i] = strings_intern(r->features.strings, text);
		}
		if (!r->names[i])
			return -ENOMEM;
	}
	r->n_names = n;
	return 0;
}

int recording_state_note_damage(struct recording *r, uint64_t offset, uint64_t n_bytes,
				const char *what, struct fault *fault)
{
	if (!r->force)
		return fault_set(fault, -EBADMSG,
				 "%s: offset %" PRIu64
				 ": %s (--force reads what comes before the damage)",
				 r->path, offset, what);
	if (!r->damage.fault.text[0]) {
		r->damage.offset = offset;
		fault_set(&r->damage.fault, 0, "offset %" PRIu64 ": %s", offset, what);
	}
	r->damage.n_bytes_lost += n_bytes;
	return 0;
}

int recording_state_end_at_damage(struct recording *r, uint64_t offset, const char *what,
				  struct fault *fault)
{
	r->finished = true;
	r->inflating = false;
	return recording_state_note_damage(r, offset, r->header.data_end - offset, what, fault);
}
