/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/profile-source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/function-ranges.h"
#include "client/source/mark-ref.h"
#include "client/source/no-match.h"
#include "client/source/window-list.h"
#include "client/term/progress.h"
#include "client/term/text.h"
#include "common/builder/load.h"
#include "common/profile/unite.h"
#include "common/util/cleanup.h"

static const uint64_t minute_us = 60000000;

int profile_source_new(struct profile_source **ret, const struct symbolizer_settings *symbols)
{
	_cleanup_(profile_source_freep) struct profile_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return -ENOMEM;
	r = symbolizer_new(&source->symbolizer, symbols);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(source);
	return 0;
}

static void drop_filtered(struct profile_source *source)
{
	source->processes = profile_free(source->processes);
	source->part = profile_free(source->part);
	source->all = source->shown = NULL;
}

struct profile_source *profile_source_free(struct profile_source *source)
{
	if (!source)
		return NULL;
	drop_filtered(source);
	for (size_t i = 0; i < source->n_parts; i++)
		profile_free(source->parts[i].shown);
	free(source->parts);
	if (!source->functions)
		profile_free(source->profile);
	functions_free(source->functions);
	functions_free(source->there);
	windows_done(&source->windows);
	for (size_t i = 0; i < source->n_hosts; i++) {
		windows_done(&source->hosts[i].windows);
		free(source->hosts[i].name);
	}
	free(source->hosts);
	symbolizer_free(source->symbolizer);
	free(source->others);
	free(source->name);
	free(source);
	return NULL;
}

static int get_table(const struct profile_object *object, struct unwind_table *ret, void *userdata)
{
	return symbolizer_unwind_table(userdata, object, ret);
}

static int load_recording(struct profile_source *source,
			  const struct profile_source_settings *settings, struct fault *fault)
{
	struct progress progress;
	struct load_settings load = {
		.force = settings->force,
		.tables = settings->tables,
		.sum_processes = settings->sum_processes,
		.no_stitch = settings->no_stitch,
		.event = settings->event,
		.unwind = { get_table, source->symbolizer },
		.progress = progress_update,
		.userdata = &progress,
		.find_function = function_ranges_find,
		.functions = source->symbolizer,
	};
	int r;

	source->is_recording = true;
	source->name = strdup(settings->window);
	if (!source->name)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (access(settings->window, R_OK) == 0)
		symbolizer_prepare(source->symbolizer); /* while the recording is read */
	progress_init(&progress);
	r = load_profile(&source->profile, settings->window, &load, &source->damage,
			 &source->others, fault);
	progress_done(&progress);
	if (r < 0)
		return r;
	if (settings->no_others)
		free(TAKE_PTR(source->others));
	r = symbolizer_add_functions(source->symbolizer, source->profile);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	r = profile_finalize(source->profile);
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}

/* The word may be the name of a recording in the current directory. */
static int suggest_file(const struct window_ref *ref, int r, struct fault *fault)
{
	if (ref->kind != WINDOW_REF_WINDOW || ref->first.kind != BOUND_NAME ||
	    access(ref->text, F_OK) < 0)
		return r;
	return fault_set(fault, r, "'%s' is not a window; did you mean ./%s?", ref->text,
			 ref->text);
}

/* The windows to load, and from where. */
struct loading {
	const struct profile_source_settings *settings;
	struct connection *connection;
	const struct window_info *rows;
	size_t n, n_parts;
};

/* The windows from @first on, before @end. */
static int load_part(struct profile_source *source, const struct loading *loading, size_t first,
		     size_t end, struct fault *fault)
{
	const struct daemon_api_request request = {
		.first = loading->rows[first].id,
		.last = loading->rows[end - 1].id,
		.filter = &loading->settings->filter,
		.tables = loading->settings->tables,
	};
	struct profile_source_part *part = &source->parts[source->n_parts];
	int r;

	r = daemon_api_get_profile(loading->connection, &request, &part->shown, &source->windows,
				   fault);
	if (r < 0)
		return r;
	part->samples = part->shown->counters.samples;
	source->n_parts++;
	return 0;
}

static int merge_parts(struct profile_source *source)
{
	_cleanup_free_ const struct profile **profiles = calloc(source->n_parts, sizeof(*profiles));
	int r;

	if (!profiles)
		return -ENOMEM;
	for (size_t i = 0; i < source->n_parts; i++)
		profiles[i] = source->parts[i].shown;
	r = profile_merge(&source->profile, profiles, source->n_parts);
	return r < 0 ? r : profile_unite(source->profile);
}

/* The windows in parts, and the whole as the sum of its parts. */
static int load_in_parts(struct profile_source *source, const struct loading *loading,
			 struct fault *fault)
{
	size_t n = loading->n, n_parts = loading->n_parts;
	int r = 0;

	source->parts = calloc(n_parts, sizeof(*source->parts));
	if (!source->parts)
		return fault_set(fault, -ENOMEM, "out of memory");
	for (size_t i = 0; r >= 0 && i < n_parts; i++)
		r = load_part(source, loading, i * n / n_parts, (i + 1) * n / n_parts, fault);
	if (r < 0)
		return r;
	r = merge_parts(source);
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

/* A single part is the whole, and left out. */
static int load_functions(struct profile_source *source, const struct loading *loading,
			  struct fault *fault)
{
	const struct daemon_api_request request = {
		.first = loading->rows[0].id,
		.last = loading->rows[loading->n - 1].id,
		.filter = &loading->settings->filter,
		.n_parts = MAX(loading->n_parts, (size_t)1),
		.by = loading->settings->by,
		.limit = loading->settings->limit,
	};
	struct functions *functions;
	int r;

	r = daemon_api_get_functions(loading->connection, &request, &source->functions,
				     &source->windows, fault);
	if (r < 0)
		return r;
	functions = source->functions;
	source->profile = functions->profile;
	if (functions->n_parts < 2)
		return 0;
	source->parts = calloc(functions->n_parts, sizeof(*source->parts));
	if (!source->parts)
		return fault_set(fault, -ENOMEM, "out of memory");
	source->n_parts = functions->n_parts;
	for (size_t i = 0; i < source->n_parts; i++)
		source->parts[i].samples = functions->parts[i].samples;
	return 0;
}

static int load_profiles(struct profile_source *source, const struct loading *loading,
			 struct fault *fault)
{
	const struct daemon_api_request request = {
		.first = loading->rows[0].id,
		.last = loading->rows[loading->n - 1].id,
		.filter = &loading->settings->filter,
		.tables = loading->settings->tables,
	};

	if (loading->n_parts > 1)
		return load_in_parts(source, loading, fault);
	return daemon_api_get_profile(loading->connection, &request, &source->profile,
				      &source->windows, fault);
}

/* "window 12", "windows 12 to 41", "the open window", "windows 12 to 41 and the open one" */
static void write_ids(FILE *f, const struct windows *windows)
{
	size_t n = windows_n_closed(windows);

	if (n == 0)
		fputs("the open window", f);
	else if (n == 1)
		fprintf(f, "window %" PRId64, windows->rows[0].id);
	else
		fprintf(f, "windows %" PRId64 " to %" PRId64, windows->rows[0].id,
			windows->rows[n - 1].id);
	if (n > 0 && n < windows->n)
		fputs(" and the open one", f);
}

/* Of windows that were merged as they aged, how long they are: a reference got whole ones. */
static void write_length(FILE *f, const struct windows *windows)
{
	uint64_t us = 0;

	for (size_t i = 0; i < windows_n_closed(windows); i++)
		us = MAX(us, windows->rows[i].length_us);
	if (windows_n_closed(windows) > 1 && us >= minute_us)
		fprintf(f, ", the longest of %" PRIu64 " min", (us + minute_us / 2) / minute_us);
}

/*
 * A description of the windows for a heading: "windows 12 to 41 and the open one, 10:00:00 to
 * 10:05:03". Heap; NULL if out of memory.
 */
static char *format_windows(const struct windows *windows, uint64_t now)
{
	char start[TIME_SPEC_TEXT_MAX], end[TIME_SPEC_TEXT_MAX];
	char *text = NULL;
	size_t n_bytes;
	FILE *f;

	if (windows->n == 0)
		return strdup("no windows");
	f = open_memstream(&text, &n_bytes);
	if (!f)
		return NULL;
	write_ids(f, windows);
	fprintf(f, ", %s to %s", time_spec_format(start, windows->rows[0].start_us, now),
		time_spec_format(end, windows_end_us(&windows->rows[windows->n - 1]), now));
	write_length(f, windows);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* The windows, and where they are if that is another machine. NULL: out of memory. */
static char *name_windows(const struct windows *windows, uint64_t now_us, const char *host)
{
	_cleanup_free_ char *text = format_windows(windows, now_us);
	char *name;

	if (!text || !host)
		return TAKE_PTR(text);
	return asprintf(&name, "%s, %s", host, text) < 0 ? NULL : name;
}

/* Notes which of the windows that @ref names by number are parts of others by now. */
static void note_merged(struct profile_source *source, const struct window_ref *ref,
			const struct loading *loading)
{
	const struct window_bound *bounds[] = { &ref->first, &ref->last };
	const struct window_info *ends[] = { &loading->rows[0], &loading->rows[loading->n - 1] };

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		if (window_ref_is_merged(bounds[i], ends[i]))
			source->merged[i] = (struct profile_source_merged){
				.id = bounds[i]->number,
				.into = ends[i]->id,
			};
}

/* Windows that were marked outlive those behind them. */
static void note_removed(struct profile_source *source, const struct windows *windows, size_t first,
			 size_t n)
{
	for (size_t i = first; i + 1 < first + n; i++) {
		uint64_t gap_us = windows_gap_us(&windows->rows[i], &windows->rows[i + 1]);

		if (gap_us == 0 || !mark_ref_is_before_removed(windows, i))
			continue;
		source->removed_us += gap_us;
		source->n_removed++;
	}
}

/* The daemon has left out the processes that do not match: asks for what there is, to name it. */
static void load_there(struct profile_source *source, const struct loading *loading)
{
	const struct daemon_api_request request = {
		.first = loading->rows[0].id,
		.last = loading->rows[loading->n - 1].id,
		.n_parts = 1,
		.by = FUNCTIONS_BY_PROCESS,
	};
	_cleanup_(windows_done) struct windows windows = {};
	struct fault ignored;

	if (loading->settings->names_there && source->profile->counters.samples == 0 &&
	    profile_filter_is_by_process(&loading->settings->filter))
		daemon_api_get_functions(loading->connection, &request, &source->there, &windows,
					 &ignored);
}

static int load_windows(struct profile_source *source,
			const struct profile_source_settings *settings,
			const struct window_ref *ref, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *opened = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	struct connection *connection = settings->connection;
	struct loading loading = { .settings = settings };
	size_t first = 0;
	int r;

	r = connection ? 0 : connection_open(&opened, settings->socket, fault);
	if (r < 0)
		return suggest_file(ref, r, fault);
	if (opened && settings->timeout_ms > 0)
		connection_set_timeout(opened, settings->timeout_ms);
	if (opened && settings->max_reply > 0)
		connection_set_max_reply(opened, settings->max_reply);
	connection = connection ?: opened;
	r = window_list_find(connection, ref, &windows, &first, &loading.n, fault);
	if (r < 0)
		return suggest_file(ref, r, fault);
	loading.connection = connection;
	loading.rows = &windows.rows[first];
	loading.n_parts = MIN(loading.n, settings->n_parts);
	note_merged(source, ref, &loading);
	note_removed(source, &windows, first, loading.n);
	r = settings->counts ? load_functions(source, &loading, fault) : -EOPNOTSUPP;
	if (r == -EOPNOTSUPP)
		r = load_profiles(source, &loading, fault);
	if (r < 0)
		return r;
	load_there(source, &loading);
	source->name =
		name_windows(&source->windows, settings->now_us, connection_host(connection));
	return source->name ? 0 : fault_set(fault, -ENOMEM, "out of memory");
}

/* The daemon has filtered the parts by process. */
static int filter_parts(struct profile_source *source, const struct profile_filter *places)
{
	struct profile *shown;
	int r;

	for (size_t i = 0; i < source->n_parts; i++) {
		r = profile_filter(&shown, source->parts[i].shown, places);
		if (r < 0)
			return r;
		profile_free(source->parts[i].shown);
		source->parts[i].shown = shown;
	}
	return 0;
}

/* The daemon has filtered them. */
static void show_functions(struct profile_source *source, const struct profile_filter *filter)
{
	source->all = source->shown = source->profile;
	source->filter = *filter;
	source->by_process = source->filtered = profile_filter_is_by_process(filter);
}

/* First by process, which defines 100 percent; then by object and symbol. */
int profile_source_filter(struct profile_source *source, const struct profile_filter *filter)
{
	struct profile_filter processes = *filter, places = PROFILE_FILTER_INIT;
	int r = 0;

	drop_filtered(source);
	processes.object = processes.symbol = NULL;
	places.object = filter->object;
	places.symbol = filter->symbol;
	places.sources_only = filter->sources_only;
	source->by_process = profile_filter_is_by_process(filter);
	source->filter = *filter;
	if (source->by_process)
		r = profile_filter(&source->processes, source->profile, &processes);
	if (r < 0)
		return r;
	source->all = source->processes ?: source->profile;
	if (places.object || places.symbol)
		r = profile_filter(&source->part, source->all, &places) ?:
			    filter_parts(source, &places);
	source->shown = source->part ?: source->all;
	source->filtered = source->processes || source->part;
	return r;
}

int profile_source_replace(struct profile_source *source, struct profile *profile,
			   struct windows *windows, const struct profile_filter *filter)
{
	drop_filtered(source);
	profile_free(source->profile);
	source->profile = profile;
	windows_done(&source->windows);
	source->windows = *windows;
	*windows = (struct windows){};
	return profile_source_filter(source, filter);
}

/* A file whose name was taken for that of a window. */
static int explain_name(const struct window_ref *ref, int error, struct fault *fault)
{
	if (error >= 0 || error == -ENOMEM || ref->kind != WINDOW_REF_WINDOW ||
	    ref->first.kind != BOUND_NAME || access(ref->text, F_OK) < 0)
		return error;
	return fault_set(fault, error, "no window has the name '%s'; for the file write ./%s",
			 ref->text, ref->text);
}

int profile_source_parse_window(const struct profile_source_settings *settings,
				struct window_ref *ret, struct fault *fault)
{
	if (settings->since_us == 0 && settings->until_us == 0)
		return window_ref_parse(ret, settings->window, settings->now_us, fault);
	window_ref_of_span(ret, settings->since_us, settings->until_us, settings->now_us);
	return 0;
}

int profile_source_open(struct profile_source **ret, const struct profile_source_settings *settings,
			struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	struct window_ref ref;
	int r;

	r = profile_source_parse_window(settings, &ref, fault);
	if (r < 0)
		return r;
	r = profile_source_new(&source, &settings->symbols);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	if (ref.kind == WINDOW_REF_RECORDING)
		r = load_recording(source, settings, fault);
	else
		r = explain_name(&ref, load_windows(source, settings, &ref, fault), fault);
	if (r < 0)
		return r;
	if (source->functions)
		show_functions(source, &settings->filter);
	else
		r = profile_source_filter(source, &settings->filter);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	*ret = TAKE_PTR(source);
	return 0;
}

/* Of windows the daemon sends what matches; but it says how many samples a window has. */
uint64_t profile_source_machine_samples(const struct profile_source *source)
{
	uint64_t n = windows_samples(&source->windows);

	for (size_t i = 0; i < source->n_hosts; i++)
		n += windows_samples(&source->hosts[i].windows);
	return MAX(n, source->profile->counters.samples);
}

size_t profile_source_n_answered(const struct profile_source *source)
{
	size_t n = 0;

	for (size_t i = 0; i < source->n_hosts; i++)
		n += source->hosts[i].answered;
	return n;
}

bool profile_source_has_match(const struct profile_source *source)
{
	const struct profile *shown = source->shown;

	return !source->filtered || shown->counters.samples > 0 || shown->n_branches > 0;
}

static void say_match(const struct profile_source *source, FILE *f)
{
	const char *symbol = source->filter.symbol;

	if (profile_source_has_match(source) && symbol)
		no_match_say_similar(symbol, source->all, f);
	else if (profile_source_has_match(source))
		return;
	else if (source->part && source->all->counters.samples > 0)
		no_match_say_place(source->name, symbol, source->all, f);
	else
		no_match_say(source->name, source->there ? source->there->profile : source->profile,
			     &source->filter, f);
}

void profile_source_say(const struct profile_source *source, FILE *f)
{
	const struct profile *shown = source->shown;

	if (source->damage.fault.text[0] != '\0')
		text_say(f, "%s: %s; %" PRIu64 " bytes from there on are lost", source->name,
			 source->damage.fault.text, source->damage.n_bytes_lost);
	if (source->others)
		text_say(f, "counting %s; also recorded, see --event: %s",
			 shown->info.event ?: "the first event", source->others);
	for (size_t i = 0; i < ARRAY_SIZE(source->merged); i++)
		if (source->merged[i].into != 0)
			text_say(f,
				 "window %" PRIu64 " was merged into window %" PRId64
				 " as it aged: all of that is counted",
				 source->merged[i].id, source->merged[i].into);
	say_match(source, f);
}
