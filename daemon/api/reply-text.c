/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/reply-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/macro.h"

static ssize_t on_write(void *cookie, const char *bytes, size_t n)
{
	struct reply_text *text = cookie;

	text->too_long |= n > text->max - text->n;
	if (text->too_long || ARRAY_RESERVE(&text->bytes, &text->cap, text->n + n) < 0)
		return 0; /* an error, of a cookie's write */
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	return (ssize_t)n;
}

int reply_text_open(struct reply_text *text, size_t max)
{
	*text = (struct reply_text){ .max = max };
	text->f = fopencookie(text, "w", (cookie_io_functions_t){ .write = on_write });
	return text->f ? 0 : -ENOMEM;
}

void reply_text_done(struct reply_text *text)
{
	if (text->f)
		fclose(text->f);
	free(text->bytes);
	*text = (struct reply_text){};
}

int reply_text_finish(struct reply_text *text, char **ret, size_t *ret_n)
{
	FILE *f = TAKE_PTR(text->f);
	bool failed = ferror(f);

	failed |= fclose(f) != 0;
	if (text->too_long)
		return -EMSGSIZE;
	if (failed || !text->bytes)
		return -ENOMEM;
	*ret = TAKE_PTR(text->bytes);
	*ret_n = text->n;
	return 0;
}
