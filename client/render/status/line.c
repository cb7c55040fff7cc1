/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/status/line.h"

#include <inttypes.h>

#include "client/source/time-spec.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "common/util/macro.h"

const json_t *status_find(const struct status_text *s, const char *part, const char *name)
{
	const json_t *object = part ? json_object_get(s->json, part) : s->json;

	return json_object_get(object, name);
}

uint64_t status_get(const struct status_text *s, const char *part, const char *name)
{
	json_int_t value = json_integer_value(status_find(s, part, name));

	return value > 0 ? (uint64_t)value : 0;
}

const char *status_get_text(const struct status_text *s, const char *part, const char *name)
{
	return json_string_value(status_find(s, part, name)) ?: "";
}

bool status_is_true(const struct status_text *s, const char *part, const char *name)
{
	return json_is_true(status_find(s, part, name));
}

void status_begin(const struct status_text *s, const char *word)
{
	fprintf(s->f, "%s%-*s%s", COLOR_BOLD(s->colors), STATUS_INDENT, word,
		COLOR_RESET(s->colors));
}

void status_note(const struct status_text *s, const char *text)
{
	if (*text == '\0')
		return;
	status_begin(s, "");
	text_write(s->f, text);
	fputc('\n', s->f);
}

void status_write_bytes(const struct status_text *s, uint64_t n)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)n;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	fprintf(s->f, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

void status_write_duration(const struct status_text *s, uint64_t us)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = { { "day", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 } };
	uint64_t left = us / 1000000;
	size_t i = 0;

	if (left < 60) {
		fprintf(s->f, "%.*f s", us % 1000000 ? 1 : 0, (double)us / 1e6);
		return;
	}
	while (left < units[i].seconds)
		i++;
	fprintf(s->f, "%" PRIu64 " %s%s", left / units[i].seconds, units[i].name,
		i == 0 ? text_plural(left / units[i].seconds) : "");
	left = left % units[i].seconds / units[i + 1].seconds;
	if (left > 0)
		fprintf(s->f, " %" PRIu64 " %s", left, units[i + 1].name);
}

void status_write_time(const struct status_text *s, uint64_t us)
{
	char text[TIME_SPEC_TEXT_MAX];

	fputs(time_spec_format(text, us, s->now_us), s->f);
}

void status_count(const struct status_text *s, const char *part, const char *name, const char *noun,
		  const char *what)
{
	uint64_t n = status_get(s, part, name);

	if (n == 0)
		return;
	status_begin(s, "");
	fprintf(s->f, "%" PRIu64 " %s%s%s\n", n, noun, text_plural(n), what);
}
