/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * forkexec N: a process that works, forks a child that works on, and starts another that executes
 * this program anew; it handles SIGCHLD, and its exit status says whether all went well.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint32_t sink;
static volatile sig_atomic_t n_signals;

static _noinline_ void parent_work(unsigned n)
{
	sink = work(sink, n);
}

static _noinline_ void forked_work(unsigned n)
{
	sink = work(sink, n) + 1;
}

static _noinline_ void executed_work(unsigned n)
{
	sink = work(sink, n) + 2;
}

static _noinline_ void handler_work(unsigned n)
{
	sink = work(sink, n) + 3;
}

static void on_child(int sig)
{
	n_signals += sig == SIGCHLD;
	handler_work(200);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		;
	return status;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_child };
	unsigned n = size_argument(argc, argv, 20000);
	pid_t pid;
	int bad;

	if (argc > 2) {
		executed_work(n);
		return strcmp(argv[2], "executed") != 0;
	}
	sigaction(SIGCHLD, &action, NULL);
	parent_work(n);
	pid = fork();
	if (pid == 0) {
		forked_work(n);
		_exit(0);
	}
	parent_work(n);
	bad = wait_for(pid);
	pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "forkexec", argc > 1 ? argv[1] : "20000", "executed", NULL);
		_exit(1);
	}
	bad |= wait_for(pid);
	return bad || n_signals == 0;
}
