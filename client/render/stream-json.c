/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/stream-json.h"

#include "client/render/json.h"

static json_t *json_location(const struct places *places, struct location at)
{
	struct place place = place_find(places, at);

	return json_place(&place);
}

static json_t *json_loops(const struct view_stream_step *path, size_t n)
{
	json_t *loops = json_array();

	for (size_t i = 0; i < n; i++)
		if (path[i].n_turns > 0)
			json_array_append_new(loops, json_pack("{s:I, s:I, s:I}", "first",
							       (json_int_t)path[i].row, "branches",
							       (json_int_t)path[i].n_loop, "times",
							       (json_int_t)path[i].n_turns));
	return loops;
}

json_t *stream_json(const struct places *places, const struct view_streams *streams, uint32_t node)
{
	struct view_stream_step path[VIEW_STREAM_MAX_ROWS];
	size_t n = view_stream_rows(streams, node, path);
	json_t *frames = json_array();

	for (size_t i = 0; i < n; i++) {
		json_array_append_new(frames, json_location(places, path[i].to));
		json_array_append_new(frames, json_location(places, path[i].from));
	}
	n = view_stream_path(streams, node, path);
	return json_pack("{s:o, s:o}", "frames", frames, "loops", json_loops(path, n));
}
