/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client of parsers that are attacked, and what became of its parsers. */
#pragma once

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/parser/ask.h"
#include "common/parser/parser.h"
#include "common/util/macro.h"
#include "tests/attacked/magic-file.h"

#define TRIAL_PIDS  8
#define TRIAL_END_S 10 /* the kernel kills a parser without connection; later the test does */

enum { OWNER_OF_ATTACKER = 1000, OWNER_OF_OTHERS };

struct trial {
	const char *program; /* the parser */
	struct parser *parser;
	struct parser_file *good; /* of another owner, open all the time */
	pid_t pids[TRIAL_PIDS];   /* parsers of the attacker */
	size_t n_pids;
	/* parsers of the attacker: how they ended */
	size_t n_forbidden, n_left, n_killed, n_other;
};

static inline int trial_connect(uint32_t owner, void *userdata)
{
	struct trial *t = userdata;
	char *argv[] = { (char *)t->program, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO), 0);
	assert_int_equal(posix_spawn(&pid, t->program, &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (owner == OWNER_OF_ATTACKER) {
		assert_in_range(t->n_pids, 0, TRIAL_PIDS - 1);
		t->pids[t->n_pids++] = pid;
	}
	return ends[0];
}

/* The text that @file's function is named by, or the error. */
static inline int trial_name(struct parser_file *file, char *ret, size_t n, struct fault *why)
{
	struct parser_table table;
	int r;

	r = parser_file_resolve(file, &(uint64_t){ MAGIC_OFFSET }, 1, 0, &table, NULL, why);
	if (r < 0)
		return r;
	snprintf(ret, n, "%s", table.n && table.rows[0].name ? table.rows[0].name : "");
	parser_table_done(&table);
	return 0;
}

/* A file that nobody attacks has the right name. */
static inline void trial_check_name(struct parser_file *file)
{
	struct fault why = {};
	char name[64] = "";

	if (trial_name(file, name, sizeof(name), &why) < 0)
		print_error("%s\n", why.text);
	assert_string_equal(name, "good_function");
}

static inline struct parser_file *trial_open(struct trial *t, uint32_t owner, const char *name,
					     int flags)
{
	struct parser_file *file;
	struct fault why = {};
	int r = parser_open(t->parser, magic_file_make(name, flags), owner, &file, &why);

	if (r < 0)
		print_error("%s: %s\n", name, why.text);
	assert_int_equal(r, 0);
	return file;
}

static inline void trial_begin(struct trial *t, const char *program, uint64_t timeout_us)
{
	const struct parser_settings settings = {
		.connect = trial_connect,
		.userdata = t,
		.timeout_us = timeout_us,
		.cpu_us = 1000000,
	};

	*t = (struct trial){ .program = program };
	assert_int_equal(parser_new(&t->parser, &settings), 0);
	t->good = trial_open(t, OWNER_OF_OTHERS, "good_function", O_RDONLY);
	trial_check_name(t->good);
}

/* Whether the parser ended within some seconds. */
static inline bool trial_await(pid_t pid, int *ret_status)
{
	for (int i = 0; i < TRIAL_END_S * 1000; i++) {
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return true;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, ret_status, 0);
	return false;
}

/*
 * Ends the parsers of the attacker, which have no open files of ours any more, and counts how they
 * ended.
 */
static inline void trial_end_parsers(struct trial *t)
{
	struct connection *connection;

	/* the client closes it by itself only after some seconds */
	connection = connections_find(&t->parser->connections, OWNER_OF_ATTACKER);
	if (connection)
		connections_close(connection);
	for (size_t i = 0; i < t->n_pids; i++) {
		int status = 0;

		if (!trial_await(t->pids[i], &status))
			t->n_killed++;
		else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
			t->n_forbidden++;
		else if (WIFEXITED(status))
			t->n_left++;
		else
			t->n_other++;
	}
	t->n_pids = 0;
}

static inline void trial_end(struct trial *t)
{
	trial_check_name(t->good);
	trial_end_parsers(t);
	parser_file_free(t->good);
	parser_free(t->parser);
}
