/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A head, the rows of the windows, and the profile as JSON; both ends are one program. */
#include "client/source/host-answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json/profile-json.h"
#include "common/util/cleanup.h"

struct head {
	struct fault fault; /* of an answer that failed: nothing follows */
	size_t n_windows;
};

static int write_profile(const struct profile_source *source, FILE *f)
{
	const struct windows *windows = &source->windows;
	const struct head head = { .n_windows = windows->n };

	fwrite(&head, sizeof(head), 1, f);
	fwrite(windows->rows, sizeof(*windows->rows), windows->n, f);
	return profile_json_write(source->profile, f);
}

int host_answer_write(const struct profile_source_settings *settings, int fd)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_fclose_ FILE *f = fdopen(fd, "we");
	struct head failed = {};
	int r;

	if (!f)
		return -errno;
	r = profile_source_open(&source, settings, &failed.fault);
	if (r < 0)
		fwrite(&failed, sizeof(failed), 1, f);
	else
		r = write_profile(source, f);
	return fflush(f) == 0 ? r : -EIO;
}

static int add_windows(struct profile_source_host *host, const char *bytes, size_t n)
{
	struct window_info window;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		memcpy(&window, bytes + i * sizeof(window), sizeof(window));
		r = windows_add(&host->windows, &window);
	}
	return r;
}

/* A fault of the connection names the host itself. */
static int take_fault(struct profile_source_host *host, const char *text)
{
	size_t n = strlen(host->name);
	bool named = strncmp(text, host->name, n) == 0 && text[n] == ':';

	return fault_set(&host->fault, -EREMOTEIO, "%s%s%.400s", named ? "" : host->name,
			 named ? "" : ": ", text);
}

int host_answer_read(struct profile_source_host *host, struct profile **ret, const char *bytes,
		     size_t n_bytes)
{
	struct fault fault;
	struct head head;
	size_t n_head;
	int r;

	if (n_bytes < sizeof(head))
		return fault_set(&host->fault, -EREMOTEIO,
				 "%s: the process that asked it died: is there enough memory?",
				 host->name);
	memcpy(&head, bytes, sizeof(head));
	if (head.fault.text[0])
		return take_fault(host, head.fault.text);
	n_head = sizeof(head) + head.n_windows * sizeof(struct window_info);
	r = profile_json_read(ret, bytes + MIN(n_head, n_bytes), n_bytes - MIN(n_head, n_bytes),
			      &fault);
	if (r == -EINVAL)
		return fault_set(&host->fault, -EREMOTEIO, "%s: its answer is not whole: %.300s",
				 host->name, fault.text);
	if (r >= 0)
		r = add_windows(host, bytes + sizeof(head), head.n_windows);
	host->answered = r >= 0;
	return r;
}
