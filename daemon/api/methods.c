/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/methods.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/api/code-reply.h"
#include "daemon/api/follow.h"
#include "daemon/api/keep-processes.h"
#include "daemon/api/mark-reply.h"
#include "daemon/api/query-queue.h"
#include "daemon/api/upkeep.h"
#include "daemon/varlink/parameters.h"
#include "daemon/varlink/turns.h"

static const char description[] =
#include "daemon/api/io.branchd.varlink.inc"
	;

struct methods {
	struct methods_settings settings;
	struct turns *turns;
	struct query_queue *queries;
	struct followers *followers;
	struct upkeep *upkeep;
	struct keep_processes keep_processes;
};

static int get_status(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;
	struct status *status;
	json_t *reply;

	if (!parameters_read(call, NULL, 0))
		return 0;
	status = calloc(1, sizeof(*status));
	if (!status)
		return -ENOMEM;
	methods->settings.get_status(status, methods->settings.userdata);
	reply = status_json(status, call_is_privileged(call));
	free(status);
	return call_reply(call, reply, false);
}

static int list_windows(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return followers_add(methods->followers, call);
}

static int keep_processes(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return keep_processes_add(&methods->keep_processes, call);
}

static int get_code(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return code_reply(call, archive_get_store(methods->settings.archive));
}

static int list_marks(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	if (!parameters_read(call, NULL, 0))
		return 0;
	return mark_reply_list(call, archive_get_store(methods->settings.archive));
}

static int add_mark(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return mark_reply_add(call, archive_get_store(methods->settings.archive));
}

static int delete_mark(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return mark_reply_delete(call, archive_get_store(methods->settings.archive));
}

static int vacuum(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return upkeep_vacuum(methods->upkeep, call);
}

static int verify(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return upkeep_verify(methods->upkeep, call);
}

static int get_profile(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return query_queue_add(methods->queries, call, false);
}

static int get_functions(struct call *call, json_t *parameters, void *userdata)
{
	struct methods *methods = userdata;

	return query_queue_add(methods->queries, call, true);
}

static const struct server_method table[] = {
	{ "io.branchd.GetStatus", get_status },
	{ "io.branchd.ListWindows", list_windows },
	{ "io.branchd.GetProfile", get_profile },
	{ "io.branchd.GetFunctions", get_functions },
	{ "io.branchd.GetCode", get_code },
	{ "io.branchd.ListMarks", list_marks },
	{ "io.branchd.AddMark", add_mark },
	{ "io.branchd.DeleteMark", delete_mark },
	{ "io.branchd.Vacuum", vacuum },
	{ "io.branchd.Verify", verify },
	{ "io.branchd.KeepProcesses", keep_processes },
};

static void on_closed(const struct window *window, void *userdata)
{
	struct methods *methods = userdata;

	followers_on_closed(methods->followers, window);
}

static void on_part(void *userdata)
{
	struct methods *methods = userdata;

	query_queue_on_part(methods->queries);
}

int methods_new(struct methods **ret, const struct methods_settings *settings)
{
	_cleanup_(methods_freep) struct methods *methods = calloc(1, sizeof(*methods));
	int r;

	if (!methods)
		return -ENOMEM;
	methods->settings = *settings;
	methods->keep_processes = (struct keep_processes){ .changed = settings->keep_processes,
							   .userdata = settings->userdata };
	r = turns_new(&methods->turns, &(struct turns_settings){ .event = settings->event });
	if (r < 0)
		return r;
	r = query_queue_new(&methods->queries,
			    &(struct query_queue_settings){ .event = settings->event,
							    .turns = methods->turns,
							    .archive = settings->archive,
							    .limits = settings->limits,
							    .cut = settings->cut,
							    .userdata = settings->userdata });
	r = r ?: followers_new(&methods->followers, settings->archive);
	r = r     ?:
		    upkeep_new(&methods->upkeep, settings->event,
			       archive_get_store(settings->archive));
	if (r < 0)
		return r;
	archive_listen(settings->archive, &(struct archive_listener){ .closed = on_closed,
								      .part = on_part,
								      .userdata = methods });
	*ret = TAKE_PTR(methods);
	return 0;
}

struct methods *methods_free(struct methods *methods)
{
	if (!methods)
		return NULL;
	archive_listen(methods->settings.archive, &(struct archive_listener){});
	query_queue_free(methods->queries);
	followers_free(methods->followers);
	upkeep_free(methods->upkeep);
	turns_free(methods->turns);
	free(methods);
	return NULL;
}

void methods_fill_settings(struct methods *methods, struct server_settings *settings)
{
	settings->interface = "io.branchd";
	settings->description = description;
	settings->methods = table;
	settings->n_methods = ARRAY_SIZE(table);
	settings->userdata = methods;
	settings->turns = methods->turns;
}
