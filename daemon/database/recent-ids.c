/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/recent-ids.h"

void recent_ids_done(struct recent_ids *recent)
{
	id_map_done(&recent->ids);
	id_map_done(&recent->older);
}

void recent_ids_clear(struct recent_ids *recent)
{
	id_map_clear(&recent->ids);
	id_map_clear(&recent->older);
}

bool recent_ids_full(const struct recent_ids *recent)
{
	return recent->ids.n >= recent->max;
}

void recent_ids_begin_generation(struct recent_ids *recent)
{
	id_map_done(&recent->older);
	recent->older = id_map_take(&recent->ids);
}

void recent_ids_forget_older(struct recent_ids *recent)
{
	id_map_clear(&recent->older);
}

int recent_ids_find(struct recent_ids *recent, struct id_key key, int64_t horizon,
		    struct id_value *ret)
{
	const struct id_value *found = id_map_find(&recent->ids, key);
	bool is_older = !found;
	int r = 0;

	if (!found)
		found = id_map_find(&recent->older, key);
	if (!found || found->more < horizon)
		return 0;
	*ret = *found;
	if (is_older && !recent_ids_full(recent))
		r = id_map_put(&recent->ids, key, *ret);
	return r < 0 ? r : 1;
}

int recent_ids_put(struct recent_ids *recent, struct id_key key, struct id_value value)
{
	if (recent_ids_full(recent))
		recent_ids_begin_generation(recent);
	return id_map_put(&recent->ids, key, value);
}
