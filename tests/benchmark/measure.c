/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command, its output thrown away, and prints what it cost: wall seconds, CPU seconds, and
 * the most anonymous memory it held at a time, in MiB. That is read from /proc each five
 * milliseconds, for the kernel keeps a high-water mark only of all memory, with the files that are
 * mapped.
 *
 *     measure COMMAND [ARGUMENT...]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static long read_anonymous_kib(const char *path)
{
	char line[128];
	long kib = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

static void run(char **argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	struct rusage usage;
	long most = 0, kib;
	char path[64];
	int status;
	double start = now();
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: measure COMMAND [ARGUMENT...]\n");
		return 2;
	}
	pid = fork();
	if (pid == 0)
		run(argv + 1);
	if (pid < 0) {
		fprintf(stderr, "measure: %s\n", strerror(errno));
		return 1;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	while (wait4(pid, &status, WNOHANG, &usage) == 0) {
		kib = read_anonymous_kib(path);
		most = kib > most ? kib : most;
		nanosleep(&nap, NULL);
	}
	printf("%.2f %.2f %.1f\n", now() - start, seconds(usage.ru_utime) + seconds(usage.ru_stime),
	       (double)most / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
