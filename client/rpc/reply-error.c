/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/reply-error.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "common/json/json-cleanup.h"
#include "common/util/cleanup.h"

int reply_error_unreadable(struct fault *fault, const char *what)
{
	return fault_set(
		fault, -EBADMSG,
		"cannot read the daemon's reply: %s; if branchd has another version, restart it",
		what);
}

/* Of a member that is missing "?". */
static const char *string_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name)) ?: "?";
}

bool reply_error_is(const struct answer *answer, const char *name)
{
	const char *prefix = "io.branchd.";
	size_t n = strlen(prefix);

	return strncmp(answer->error, prefix, n) == 0 && strcmp(answer->error + n, name) == 0;
}

bool reply_error_is_denied(const struct answer *answer)
{
	return strcmp(answer->error, "org.varlink.service.PermissionDenied") == 0;
}

/* The daemon's errors in words. Other errors keep the text of the connection. */
int reply_error_explain(const struct answer *answer, int r, struct fault *fault)
{
	_cleanup_json_ json_t *parameters = NULL;
	const char *reason;

	if (r != -EREMOTEIO)
		return r;
	parameters = json_loadb(answer->text, answer->n_bytes, 0, NULL);
	if (reply_error_is(answer, "NoSuchWindow"))
		return fault_set(fault, -ENOENT,
				 "the daemon has just removed one of the windows; branchctl "
				 "windows lists the others");
	if (reply_error_is(answer, "NotSampling")) {
		reason = json_string_value(json_object_get(parameters, "reason"));
		return fault_set(fault, -EAGAIN,
				 "no window is open because branchd is not sampling: %s",
				 reason && *reason ? reason : "branchctl status says why");
	}
	if (reply_error_is_denied(answer))
		return fault_set(
			fault, -EACCES,
			"only root and the group branchd see the processes of other users: join "
			"the group (usermod -aG branchd USER, then log in again)");
	if (reply_error_is(answer, "DatabaseDamaged"))
		return fault_set(fault, -EBADMSG, "%s",
				 json_string_value(json_object_get(parameters, "message")) ?:
					 "the daemon's database is damaged");
	if (reply_error_is(answer, "MarkExists"))
		return fault_set(fault, -EEXIST,
				 "there is a mark '%s' already; branchctl mark --delete %s "
				 "removes it",
				 string_of(parameters, "name"), string_of(parameters, "name"));
	if (reply_error_is(answer, "TooManyMarked"))
		return fault_set(fault, -EMLINK,
				 "the daemon does not keep more: %s; branchctl mark --list shows "
				 "what can be deleted",
				 string_of(parameters, "message"));
	if (reply_error_is(answer, "TooLarge"))
		return fault_set(fault, -EMSGSIZE,
				 "the profile is larger than the daemon may send: ask for fewer "
				 "windows, or filter with --pid, --comm or --unit");
	if (reply_error_is(answer, "TooExpensive"))
		return fault_set(fault, -E2BIG,
				 "the query takes more memory or time than the daemon grants: ask "
				 "for fewer windows, or join the group branchd, which is granted "
				 "more");
	if (reply_error_is(answer, "InternalError"))
		return fault_set(fault, -EIO,
				 "branchd could not do that: %s; branchctl status and the journal "
				 "say more",
				 string_of(parameters, "message"));
	return r;
}

bool reply_error_is_refused(const struct answer *answer)
{
	return strcmp(answer->error, "org.varlink.service.InvalidParameter") == 0;
}

/* What the daemon says of marks; one that is too old knows none. */
int reply_error_explain_mark(const struct answer *answer, int r, struct fault *fault)
{
	if (r == -EREMOTEIO && strcmp(answer->error, "org.varlink.service.MethodNotFound") == 0)
		return fault_set(fault, -EOPNOTSUPP,
				 "the daemon that runs knows no marks yet: restart branchd");
	if (reply_error_is_denied(answer))
		return fault_set(fault, -EACCES,
				 "only root and the group branchd name windows, as these take "
				 "room from the windows of all");
	return reply_error_explain(answer, r, fault);
}
