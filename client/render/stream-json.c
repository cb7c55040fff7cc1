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

static json_t *json_turns(const struct stream_tree_node *node, size_t i)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "first", (json_int_t)((i + 1 - node->n_loop) / 2),
			 "branches", (json_int_t)(node->n_loop / 2), "fewest_times",
			 (json_int_t)node->fewest, "times", (json_int_t)node->most);
}

json_t *stream_json_lines(const struct places *places, const struct stream_tree *tree,
			  enum side side, uint32_t node)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(tree, node, path);
	json_t *frames = json_array(), *loops = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct stream_tree_node *at = stream_tree_node(tree, path[i]);

		json_array_append_new(frames, json_location(places, at->ends[side].at));
		if (at->n_loop > 0 && at->most > 1)
			json_array_append_new(loops, json_turns(at, i));
	}
	return json_pack("{s:o, s:o}", "frames", frames, "loops", loops);
}
