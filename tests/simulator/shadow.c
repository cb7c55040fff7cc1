/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shadow: the true call stack of one task on one stack. The idea is described in shadow.h. */
#include "tests/simulator/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int shadow_reserve(struct shadow *s, size_t n)
{
	struct shadow_entry *grown;

	if (n <= s->n_allocated)
		return 0;
	n = n < 64 ? 64 : 2 * n;
	grown = reallocarray(s->entries, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->entries = grown;
	s->n_allocated = n;
	return 0;
}

int shadow_copy(struct shadow *to, const struct shadow *from)
{
	int r;

	r = shadow_reserve(to, from->n_entries);
	if (r < 0)
		return r;
	if (from->n_entries > 0)
		memcpy(to->entries, from->entries, from->n_entries * sizeof(*from->entries));
	to->n_entries = from->n_entries;
	for (size_t i = 0; i < to->n_entries; i++)
		to->entries[i].shown = false;
	return 0;
}

void shadow_clear(struct shadow *s)
{
	s->n_entries = 0;
	s->interrupted = NULL;
}

void shadow_done(struct shadow *s)
{
	free(s->entries);
	*s = (struct shadow){ 0 };
}

int shadow_push(struct shadow *s, const struct shadow_entry *entry)
{
	int r;

	/* a slot that is written again held the return address of a call that is over */
	shadow_trim(s, entry->slot + 1);
	r = shadow_reserve(s, s->n_entries + 1);
	if (r < 0)
		return r;
	s->entries[s->n_entries++] = *entry;
	return 0;
}

bool shadow_trim(struct shadow *s, uint64_t rsp)
{
	size_t n = s->n_entries;

	while (s->n_entries > 0 && s->entries[s->n_entries - 1].slot < rsp)
		s->n_entries--;
	return s->n_entries < n;
}

bool shadow_returns(const struct shadow *s, uint64_t slot, uint64_t target)
{
	const struct shadow_entry *top = s->n_entries > 0 ? &s->entries[s->n_entries - 1] : NULL;

	return top && top->slot == slot && top->return_addr == target;
}

/* From the leaf on: what is asked for is mostly near it. */
void shadow_show(struct shadow *s, uint64_t serial)
{
	for (; s; s = s->interrupted)
		for (size_t i = s->n_entries; i-- > 0;) {
			struct shadow_entry *entry = &s->entries[i];

			if (entry->serial == serial)
				entry->shown = true;
			if (entry->serial > 0 && entry->serial <= serial)
				return;
		}
}

size_t shadow_count_shown(const struct shadow *s)
{
	size_t n = 0;

	for (; s; s = s->interrupted)
		for (size_t i = s->n_entries; i-- > 0; n++)
			if (!s->entries[i].shown)
				return n;
	return n;
}

size_t shadow_count_held(const struct shadow *s, uint64_t rsp, const char *memory, size_t n,
			 bool *ret_is_changed)
{
	size_t n_held = 0;
	uint64_t word;

	*ret_is_changed = false;
	for (; s; s = s->interrupted)
		for (size_t i = s->n_entries; i-- > 0; n_held++) {
			const struct shadow_entry *entry = &s->entries[i];

			if (entry->word < rsp || n < 8 || entry->word - rsp > n - 8)
				return n_held;
			memcpy(&word, memory + (entry->word - rsp), 8);
			*ret_is_changed = word != entry->return_addr;
			if (*ret_is_changed)
				return n_held;
		}
	return n_held;
}
