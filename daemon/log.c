/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "daemon/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define MAX_TEXT   2048
#define MAX_FIELDS 16

static bool to_journal;

/* JOURNAL_STREAM names stderr if systemd has connected it to the journal. */
void log_open(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	to_journal = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
		     fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

static void add_field(struct iovec *iov, int *n, const char *text)
{
	if (*n < MAX_FIELDS)
		iov[(*n)++] = (struct iovec){ (char *)text, strlen(text) };
}

void log_write(int priority, const char *id, const char *const *fields, const char *format, ...)
{
	static const char key[] = "MESSAGE=";
	char message[sizeof(key) + MAX_TEXT], level[32], message_id[64];
	struct iovec iov[MAX_FIELDS];
	char *text = message + strlen(key);
	va_list ap;
	int n = 0;

	memcpy(message, key, sizeof(key));
	va_start(ap, format);
	vsnprintf(text, MAX_TEXT, format, ap);
	va_end(ap);
	if (!to_journal) {
		fprintf(stderr, "branchd: %s\n", text);
		return;
	}
	snprintf(level, sizeof(level), "PRIORITY=%d", priority);
	snprintf(message_id, sizeof(message_id), "MESSAGE_ID=%s", id ?: "");
	add_field(iov, &n, message);
	add_field(iov, &n, level);
	if (id)
		add_field(iov, &n, message_id);
	for (; fields && *fields; fields++)
		add_field(iov, &n, *fields);
	sd_journal_sendv(iov, n);
}
