/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/helpers/helpers.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/launcher/capabilities.h"

/* A helper that writes its own status into its connection, and ends with it. */
static const char script[] = "#!/bin/sh\ncat /proc/$$/status >&0\necho END >&0\nexec cat >&2\n";

static char directory[] = "/tmp/test-helpers-XXXXXX";

static void write_helper(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/branchd-%s", directory, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(script, f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
}

static int set_up(void **state)
{
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chmod(directory, 0755), 0);
	write_helper("opener");
	write_helper("parser");
	return setenv("BRANCHD_LIBEXEC", directory, 1);
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* Reads up to END. */
static void read_status(int fd, char *ret, size_t n)
{
	size_t at = 0;

	while (at < n - 1) {
		ssize_t n_read = read(fd, ret + at, n - 1 - at);

		assert_true(n_read > 0);
		at += (size_t)n_read;
		ret[at] = '\0';
		if (strstr(ret, "\nEND\n"))
			return;
	}
	fail_msg("too long");
}

static uint64_t field(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, base);
}

static void connect_and_read(struct helpers *helpers, enum helper_kind kind, char *ret, size_t n)
{
	int fd = helpers_connect(helpers, kind);

	assert_true(fd >= 0);
	read_status(fd, ret, n);
	close(fd);
}

static void test_gives_each_helper_its_privileges(void **state)
{
	uint64_t opener = CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
			  CAPABILITY(CAP_CHECKPOINT_RESTORE);
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	char status[8192], own[8192];
	uint64_t all;
	FILE *f = fopen("/proc/self/status", "re");

	own[fread(own, 1, sizeof(own) - 1, f)] = '\0';
	fclose(f);
	all = field(own, "\nCapPrm:", 16);
	assert_int_equal(helpers_new(&helpers, NULL), 0);
	connect_and_read(helpers, HELPER_OPENER, status, sizeof(status));
	assert_int_equal(field(status, "\nCapEff:", 16), opener & all);
	assert_int_equal(field(status, "\nCapPrm:", 16), opener & all);
	assert_int_equal(field(status, "\nNoNewPrivs:", 10), 1);
	if (all & CAPABILITY(CAP_SETPCAP))
		assert_int_equal(field(status, "\nCapBnd:", 16), opener & all);
	assert_int_equal(field(status, "\nUid:", 10), geteuid());

	connect_and_read(helpers, HELPER_PARSER, status, sizeof(status));
	assert_int_equal(field(status, "\nCapPrm:", 16), 0);
	if (all & CAPABILITY(CAP_SETPCAP))
		assert_int_equal(field(status, "\nCapBnd:", 16), 0);
	if (geteuid() == 0)
		assert_int_not_equal(field(status, "\nUid:", 10), 0);
}

static void expect_priority(struct helpers *helpers, enum helper_kind kind, int policy, int nice)
{
	int fd = helpers_connect(helpers, kind);
	char status[8192];
	pid_t pid;

	assert_true(fd >= 0);
	read_status(fd, status, sizeof(status));
	pid = (pid_t)field(status, "\nPid:", 10);
	assert_int_equal(sched_getscheduler(pid), policy);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), nice);
	close(fd);
}

static void test_the_parser_has_a_low_priority(void **state)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;

	assert_int_equal(helpers_new(&helpers, NULL), 0);
	expect_priority(helpers, HELPER_OPENER, sched_getscheduler(0),
			getpriority(PRIO_PROCESS, 0));
	expect_priority(helpers, HELPER_PARSER, SCHED_BATCH, MAX(getpriority(PRIO_PROCESS, 0), 5));
}

static void test_counts(void **state)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct helper_counts counts;
	char status[8192];

	assert_int_equal(helpers_new(&helpers, NULL), 0);
	assert_int_equal(helpers_connect(helpers, HELPER_EVENTS), -ENOENT);
	connect_and_read(helpers, HELPER_OPENER, status, sizeof(status));
	helpers_count_failure(helpers, HELPER_EVENTS);
	helpers_get_counts(helpers, HELPER_EVENTS, &counts);
	assert_int_equal(counts.connected, 0);
	assert_int_equal(counts.refused, 1);
	assert_int_equal(counts.failed, 1);
	helpers_get_counts(helpers, HELPER_OPENER, &counts);
	assert_int_equal(counts.connected, 1);
	assert_int_equal(counts.refused, 0);
}

/* Without a connection of this test's own to the helper, nothing but the launcher keeps it. */
static void test_helpers_end_with_the_launcher(void **state)
{
	struct pollfd end = { .events = POLLIN };
	struct helpers *helpers = NULL;
	char status[8192];

	assert_int_equal(helpers_new(&helpers, NULL), 0);
	end.fd = helpers_connect(helpers, HELPER_OPENER);
	assert_true(end.fd >= 0);
	read_status(end.fd, status, sizeof(status));
	assert_int_equal(poll(&end, 1, 0), 0);
	helpers_free(helpers);
	assert_int_equal(poll(&end, 1, 10000), 1);
	assert_int_equal(read(end.fd, status, 1), 0);
	close(end.fd);
}

static void test_a_dead_launcher_is_an_error(void **state)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	char status[8192];
	pid_t launcher;
	int fd;

	assert_int_equal(helpers_new(&helpers, NULL), 0);
	fd = helpers_connect(helpers, HELPER_OPENER);
	read_status(fd, status, sizeof(status));
	close(fd);
	launcher = (pid_t)field(status, "\nPPid:", 10);
	assert_int_equal(kill(launcher, SIGKILL), 0);
	assert_int_equal(waitpid(launcher, NULL, 0), launcher);
	assert_int_equal(helpers_connect(helpers, HELPER_OPENER), -EPIPE);
	assert_int_equal(helpers_connect(helpers, HELPER_OPENER), -EPIPE);
}

static void test_connects_to_sockets_of_a_directory(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	_cleanup_close_ int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/parser", directory);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(helpers_new(&helpers, directory), 0);
	fd = helpers_connect(helpers, HELPER_PARSER);
	assert_true(fd >= 0);
	assert_int_equal(helpers_connect(helpers, HELPER_OPENER), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gives_each_helper_its_privileges),
		cmocka_unit_test(test_the_parser_has_a_low_priority),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_helpers_end_with_the_launcher),
		cmocka_unit_test(test_a_dead_launcher_is_an_error),
		cmocka_unit_test(test_connects_to_sockets_of_a_directory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
