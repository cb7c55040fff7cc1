/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library is loaded with the first download, because it loads some thirty others, which would
 * cost each start of branchctl many milliseconds.
 */
#include "client/download/downloads.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/term/text.h"
#include "common/util/clock.h"
#include "common/util/macro.h"

#define LIBRARY     "libdebuginfod.so.1"
#define NS          1000000000ull
#define DELAY_NS    (NS / 2)
#define INTERVAL_NS (NS / 10)
#define MIB         1048576.0

struct library {
	void *handle;
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	void (*set_progress)(debuginfod_client *client, debuginfod_progressfn_t function);
	int (*find_debug)(debuginfod_client *client, const unsigned char *id, int n, char **path);
	int (*find_program)(debuginfod_client *client, const unsigned char *id, int n, char **path);
};

struct downloads {
	struct library library;
	debuginfod_client *client; /* NULL before the first download */
	bool has_ended;            /* nothing more is downloaded */
	bool is_terminal, is_shown;

	/* of the download that goes on */
	const char *name;
	uint64_t start_ns, heard_ns, shown_ns;
	long n_bytes;
	const char *why; /* it was ended */
};

/* The library's callback and the signal handler reach nothing else. */
static struct downloads *current;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	interrupted = number;
}

static const struct {
	const char *name, *value;
} limits[] = {
	{ DEBUGINFOD_TIMEOUT_ENV_VAR, "15" },
	{ DEBUGINFOD_MAXTIME_ENV_VAR, "120" },
	{ DEBUGINFOD_MAXSIZE_ENV_VAR, "1073741824" },
	{ DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0" },
};

/* Of a number of seconds that the user may have set: from 1 to an hour. */
static uint64_t limit_ns(const char *name)
{
	const char *text = getenv(name);
	uint64_t seconds = text ? strtoull(text, NULL, 10) : 0;

	return MIN(seconds ?: 3600, (uint64_t)3600) * NS;
}

int downloads_new(struct downloads **ret)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	struct downloads *downloads;

	*ret = NULL;
	if (!urls || !*urls)
		return 0;
	downloads = calloc(1, sizeof(*downloads));
	if (!downloads)
		return -ENOMEM;
	downloads->is_terminal = isatty(STDERR_FILENO);
	*ret = downloads;
	return 0;
}

struct downloads *downloads_free(struct downloads *downloads)
{
	if (!downloads)
		return NULL;
	if (downloads->client)
		downloads->library.end(downloads->client);
	if (downloads->library.handle)
		dlclose(downloads->library.handle);
	free(downloads);
	return NULL;
}

static void show(struct downloads *d, long size)
{
	fputs("\rdownloading symbols of ", stderr);
	text_write(stderr, d->name);
	if (size > 0)
		fprintf(stderr, ": %.1f of %.1f MiB", (double)d->n_bytes / MIB, (double)size / MIB);
	fputs("; Ctrl-C goes on without\033[K", stderr);
	fflush(stderr);
	d->is_shown = true;
}

static void hide(struct downloads *d)
{
	if (d->is_shown)
		fputs("\r\033[K", stderr);
	d->is_shown = false;
}

static const char *why_end(const struct downloads *d, uint64_t now)
{
	if (interrupted)
		return "interrupted";
	if (now - d->heard_ns > limit_ns(DEBUGINFOD_TIMEOUT_ENV_VAR))
		return "no answer within the time of DEBUGINFOD_TIMEOUT";
	if (now - d->start_ns > limit_ns(DEBUGINFOD_MAXTIME_ENV_VAR))
		return "not whole within the time of DEBUGINFOD_MAXTIME";
	return NULL;
}

/* Called at least once a second; @size is 0 before a server has answered. 1 ends the download. */
static int on_progress(debuginfod_client *client, long n_bytes, long size)
{
	struct downloads *d = current;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (size != 0 && n_bytes != d->n_bytes) {
		d->n_bytes = n_bytes;
		d->heard_ns = now;
	}
	if (d->is_terminal && now - d->start_ns > DELAY_NS && now - d->shown_ns > INTERVAL_NS) {
		d->shown_ns = now;
		show(d, size);
	}
	d->why = why_end(d, now);
	return d->why != NULL;
}

static int load(struct library *library)
{
	const struct {
		const char *name;
		void *at;
	} functions[] = {
		{ "debuginfod_begin", &library->begin },
		{ "debuginfod_end", &library->end },
		{ "debuginfod_set_progressfn", &library->set_progress },
		{ "debuginfod_find_debuginfo", &library->find_debug },
		{ "debuginfod_find_executable", &library->find_program },
	};

	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ENOSYS;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(library->handle, functions[i].name);

		if (!function)
			return -ENOSYS;
		memcpy(functions[i].at, &function, sizeof(function));
	}
	return 0;
}

/* Nothing more is downloaded. */
static int end(struct downloads *d, int r, const char *why)
{
	d->has_ended = true;
	text_say(stderr, "DEBUGINFOD_URLS=%s: %s; nothing more is downloaded",
		 getenv(DEBUGINFOD_URLS_ENV_VAR), why);
	return r;
}

static int begin(struct downloads *d)
{
	if (d->client)
		return 0;
	if (load(&d->library) < 0)
		return end(d, -ENOSYS, LIBRARY " is not there; install it, or unset the variable");
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		setenv(limits[i].name, limits[i].value, false);
	d->client = d->library.begin();
	if (!d->client)
		return end(d, -ENOMEM, "out of memory");
	d->library.set_progress(d->client, on_progress);
	return 0;
}

/* Ctrl-C ends the download alone meanwhile; a signal that is ignored stays so. */
static int find(struct downloads *d, const struct symbolizer_wanted *wanted)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct sigaction before;
	int fd;

	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	current = d;
	fd = (wanted->is_debug ? d->library.find_debug : d->library.find_program)(
		d->client, wanted->build_id, (int)wanted->n_build_id, NULL);
	current = NULL;
	sigaction(SIGINT, &before, NULL);
	return fd;
}

int downloads_fetch(const struct symbolizer_wanted *wanted, void *userdata)
{
	struct downloads *d = userdata;
	int fd, r;

	if (d->has_ended)
		return -ENOENT;
	r = begin(d);
	if (r < 0)
		return r;
	d->name = wanted->path;
	d->start_ns = d->heard_ns = clock_ns(CLOCK_MONOTONIC);
	d->shown_ns = 0;
	d->n_bytes = 0;
	d->why = NULL;
	interrupted = 0;
	fd = find(d, wanted);
	hide(d);
	if (fd >= 0 || (fd == -ENOENT && !d->why))
		return fd;
	if (fd == -EFBIG) {
		text_say(stderr, "%s: its symbols are larger than DEBUGINFOD_MAXSIZE=%s",
			 wanted->path, getenv(DEBUGINFOD_MAXSIZE_ENV_VAR));
		return -ENOENT;
	}
	return end(d, -ENOENT, d->why ?: strerror(-fd));
}
