/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that never rests: forks, runs exec, makes threads, loads and unloads libraries, all of
 * it as often as it can.
 *
 *   churn SECONDS PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/spin.h"

#define N_WORKERS 3
#define N_THREADS 4

static const char *self, *plugin;

static void *run_thread(void *unused)
{
	spin_us(300);
	return NULL;
}

static void make_threads(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
			_exit(1);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void load_plugin(void)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(plugin, RTLD_NOW);

		if (!handle)
			_exit(1);
		spin_us(200);
		dlclose(handle);
	}
}

static void run_child(int what)
{
	if (what == 0)
		execl(self, self, "brief", NULL);
	if (what == 1)
		make_threads();
	if (what == 2)
		load_plugin();
	spin_us(500);
	_exit(0);
}

static int work(double seconds)
{
	time_t end = time(NULL) + (time_t)seconds;
	int status;

	for (int i = 0; time(NULL) < end; i++) {
		pid_t child = fork();

		if (child == 0)
			run_child(i % 4);
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status, r = 0;

	if (argc == 2 && strcmp(argv[1], "brief") == 0) {
		spin_us(1000);
		return 0;
	}
	if (argc != 3)
		return 1;
	self = argv[0];
	plugin = argv[2];
	for (int i = 0; i < N_WORKERS; i++)
		if (fork() == 0)
			_exit(work(strtod(argv[1], NULL)));
	while (wait(&status) > 0)
		r |= status;
	return r != 0;
}
