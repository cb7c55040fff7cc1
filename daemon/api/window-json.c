/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/window-json.h"

#include <errno.h>
#include <stdlib.h>

#include "common/json/json-text.h"
#include "common/util/array.h"

int window_list_add(struct window_list *list, const struct window *window)
{
	if (ARRAY_RESERVE(&list->rows, &list->cap, list->n + 1) < 0)
		return -ENOMEM;
	list->rows[list->n++] = *window;
	return 0;
}

void window_list_done(struct window_list *list)
{
	free(list->rows);
	*list = (struct window_list){};
}

/* A new object, or NULL for want of memory. */
static json_t *window_json(const struct window *window)
{
	return json_pack("{sI sI sI sI sI sb so}", "id", (json_int_t)window->id, "start_us",
			 (json_int_t)window->start_us, "length_us", (json_int_t)window->length_us,
			 "samples", (json_int_t)window->samples, "lost", (json_int_t)window->lost,
			 "open", window->open, "mode", json_text(window->mode));
}

int window_list_write_json(const struct window_list *list, FILE *f)
{
	fputs("\"windows\":[", f);
	for (size_t i = 0; i < list->n; i++) {
		json_t *window = window_json(&list->rows[i]);
		int r;

		if (!window)
			return -ENOMEM;
		if (i > 0)
			fputc(',', f);
		r = json_dumpf(window, f, JSON_COMPACT);
		json_decref(window);
		if (r < 0)
			return -EIO;
	}
	fputc(']', f);
	return ferror(f) ? -EIO : 0;
}
