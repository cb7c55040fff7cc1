/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* branchd-ship: sends the windows of branchd to another server. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "client/rpc/unix-socket.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/service-options.h"
#include "common/util/standard-streams.h"
#include "common/util/thread.h"
#include "ship/config.h"
#include "ship/follower.h"
#include "ship/receiver.h"
#include "ship/sender.h"
#include "ship/status.h"

#define CONFIG         "/etc/branchd/ship.conf"
#define SPOOL          "/var/lib/branchd-ship"
#define STATUS         "/run/branchd-ship/status"
#define CREDENTIAL     "ship.password"
#define MMAP_THRESHOLD (64 << 10)

static const char usage[] =
	"Usage: branchd-ship [OPTION...]\n"
	"Sends the windows that branchd closes to ClickHouse, to Pyroscope or by OTLP.\n"
	"\n"
	"      --config FILE   the configuration (" CONFIG ")\n"
	"      --socket PATH   the daemon's socket (" UNIX_SOCKET_DEFAULT_PATH ")\n"
	"      --spool DIR     keep what is not sent yet in DIR (" SPOOL ")\n"
	"      --status-file FILE  (" STATUS ")\n"
	"      --status        show what was sent, what waits, and what was dropped\n"
	"      --json          the same for scripts\n"
	"      --help          show this text\n"
	"      --version       show the version\n"
	"\n"
	"See branchd-ship(8).\n";

struct arguments {
	const char *config, *socket, *spool, *status;
	bool show, json;
};

/* What the threads have. */
struct service {
	struct arguments arguments;
	struct config config;
	char *password;
	struct names_seen *seen;
	struct spool *spool;
	struct receiver *receiver;
	sigset_t signals;
};

static void service_done(struct service *service)
{
	config_done(&service->config);
	free(service->password);
	names_seen_free(service->seen);
	spool_free(service->spool);
	receiver_free(service->receiver);
}

/* What was said last; two failures each have their own, and do not take turns. */
struct said {
	const char *works; /* what to say when it works again */
	struct fault last;
};

static struct said said_of_topics[N_FOLLOWER_TOPICS] = {
	[FOLLOWER_DAEMON] = { .works = "the daemon answers again" },
	[FOLLOWER_SPOOL] = { .works = "batches are kept again" },
};
static struct said said_of_server = { .works = "the server takes batches again" };
static pthread_mutex_t said_mutex = PTHREAD_MUTEX_INITIALIZER;

/* A line when what fails changes. Without a text, it works. */
static void say(struct said *said, const struct fault *fault)
{
	pthread_mutex_lock(&said_mutex);
	if (strcmp(said->last.text, fault->text) != 0) {
		fprintf(stderr, "branchd-ship: %s\n", fault->text[0] ? fault->text : said->works);
		said->last = *fault;
	}
	pthread_mutex_unlock(&said_mutex);
}

static void complain(enum follower_topic topic, const struct fault *fault)
{
	say(&said_of_topics[topic], fault);
}

/* As service_options_read(). */
static int read_options(int argc, char **argv, struct arguments *ret)
{
	const struct service_option table[] = {
		{ "config", &ret->config, NULL }, { "socket", &ret->socket, NULL },
		{ "spool", &ret->spool, NULL },   { "status-file", &ret->status, NULL },
		{ "status", NULL, &ret->show },   { "json", NULL, &ret->json },
	};
	const struct service_options options = { "branchd-ship", BRANCHD_VERSION, usage, table,
						 ARRAY_SIZE(table) };
	int r = service_options_read(&options, argc, argv);

	if (r <= 0 || !ret->json || ret->show)
		return r;
	fprintf(stderr, "branchd-ship: --json goes with --status\n");
	return -1;
}

/* PasswordFile=, or the credential that the unit has. */
static int read_password(struct service *service, struct fault *fault)
{
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	_cleanup_free_ char *path = NULL;

	if (service->config.password_file)
		return config_read_secret(&service->password, service->config.password_file, fault);
	if (!credentials || asprintf(&path, "%s/" CREDENTIAL, credentials) < 0) {
		path = NULL;
		return 0;
	}
	return access(path, F_OK) < 0 ? 0 : config_read_secret(&service->password, path, fault);
}

static int open_service(struct service *service, struct fault *fault)
{
	int r = config_load(&service->config, service->arguments.config, fault);

	r = r < 0 ? r : read_password(service, fault);
	r = r < 0 ? r :
		    spool_open(&service->spool, service->arguments.spool,
			       service->config.max_spool_bytes, fault);
	if (r < 0)
		return r;
	if (names_seen_new(&service->seen) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return receiver_new(&service->receiver,
			    &(struct receiver_settings){
				    .format = service->config.format,
				    .url = service->config.url,
				    .user = service->config.user,
				    .password = service->password,
				    .ca_file = service->config.ca_file,
				    .host = service->config.host,
				    .database = service->config.database,
			    },
			    fault);
}

static void report(const struct sender_totals *totals, void *userdata)
{
	const struct service *service = userdata;
	struct spool_totals spool = spool_totals(service->spool);

	(void)status_write(service->arguments.status, &spool, totals);
	say(&said_of_server, &totals->fault);
}

static void *run_sender(void *userdata)
{
	struct service *service = userdata;
	const struct sender_settings settings = {
		.spool = service->spool,
		.receiver = service->receiver,
		.report = report,
		.userdata = service,
	};

	sender_run(&settings);
	return NULL;
}

static void *run_signals(void *userdata)
{
	struct service *service = userdata;
	int number;

	sigwait(&service->signals, &number);
	follower_stop();
	spool_stop(service->spool);
	return NULL;
}

static int run(struct service *service, struct fault *fault)
{
	const struct follower_settings settings = {
		.socket = service->arguments.socket,
		.sender = { service->config.host, service->seen, service->config.format },
		.spool = service->spool,
		.sum_us = service->config.sum_us,
		.batch_us = service->config.batch_us,
		.complain = complain,
	};
	pthread_t sender, signals;
	int r;

	sigemptyset(&service->signals);
	sigaddset(&service->signals, SIGTERM);
	sigaddset(&service->signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &service->signals, NULL);
	r = thread_start(&signals, run_signals, service);
	r = r < 0 ? r : thread_start(&sender, run_sender, service);
	if (r < 0)
		return fault_set(fault, r, "cannot start a thread: %s", strerror(-r));
	follower_run(&settings);
	pthread_join(sender, NULL);
	pthread_join(signals, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(service_done) struct service service = {
		.arguments = { CONFIG, UNIX_SOCKET_DEFAULT_PATH, SPOOL, STATUS, false, false },
	};
	struct fault fault = {};
	int r;

	if (standard_streams_fill() < 0)
		return SERVICE_FAILED;
	r = read_options(argc, argv, &service.arguments);
	if (r <= 0)
		return r < 0 ? SERVICE_USAGE : 0;
	/* a profile's tables come and go: they must not fragment the heap */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	mallopt(M_ARENA_MAX, 1); /* two threads that allocate little at a time */
	if (service.arguments.show) {
		r = status_print(service.arguments.status, service.arguments.json, &fault);
	} else {
		r = open_service(&service, &fault);
		r = r < 0 ? r : run(&service, &fault);
	}
	if (r < 0)
		fprintf(stderr, "branchd-ship: %s\n", fault.text);
	return r < 0 ? SERVICE_FAILED : 0;
}
