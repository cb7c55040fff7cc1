/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/rpc/unix-socket.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/printable.h"

#define SCHEME "ssh:"

/* How the child ends: those of ssh itself, of a shell on the other machine, and of branchctl there.
 */
enum status {
	STATUS_CANNOT_START = 254, /* no ssh on this machine */
	STATUS_SSH_FAILED = 255,
	STATUS_NOT_FOUND = 127,
	STATUS_USAGE = 2,
};

#define PATIENCE_MS 2000 /* until it has ended, once it closed its output */
#define MAX_ERRORS  4096 /* bytes on standard error */
#define MAX_LINE    300  /* of a message */

struct ssh {
	pid_t pid;
	int errors; /* the pipe at its standard error */
	int status; /* as of waitpid(), once pid is 0 */
	char *host;
	char text[MAX_ERRORS + 1]; /* the end of what it wrote there */
	size_t n_text;
};

bool ssh_is_address(const char *address)
{
	return strncmp(address, SCHEME, strlen(SCHEME)) == 0;
}

char *ssh_format_address(const char *host, const char *path)
{
	char *address;

	return asprintf(&address, SCHEME "%s:%s", host, path) < 0 ? NULL : address;
}

bool ssh_is_host(const char *host)
{
	return *host && *host != '-' && !strpbrk(host, "/ \t\n'\"\\$`;&|<>()");
}

/* Splits it; the path begins at the first slash. */
static int parse_address(const char *address, char **ret_host, const char **ret_path)
{
	const char *host = address + strlen(SCHEME);
	const char *path = strchr(host, '/');

	if (!path || path - host < 2 || path[-1] != ':')
		return -EINVAL;
	*ret_host = strndup(host, (size_t)(path - host - 1));
	*ret_path = path;
	return *ret_host ? 0 : -ENOMEM;
}

/* The command for the shell of the other machine, which has a default path of its own. NULL: out of
 * memory. */
static char *format_command(const char *path)
{
	char *command, *end;

	if (strcmp(path, UNIX_SOCKET_DEFAULT_PATH) == 0)
		return strdup("branchctl --stdio-bridge");
	command = malloc(64 + 4 * strlen(path));
	if (!command)
		return NULL;
	end = stpcpy(command, "branchctl --stdio-bridge '");
	for (; *path; path++) {
		if (*path == '\'')
			end = stpcpy(end, "'\\'");
		*end++ = *path;
	}
	strcpy(end, "'");
	return command;
}

_Noreturn static void run(const char *host, const char *command, int socket, int errors)
{
	if (dup2(socket, STDIN_FILENO) >= 0 && dup2(socket, STDOUT_FILENO) >= 0 &&
	    dup2(errors, STDERR_FILENO) >= 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM); /* also where Ctrl-C does not reach it */
		signal(SIGINT, SIG_DFL);          /* a pager may have them ignored */
		signal(SIGPIPE, SIG_DFL);
		execlp("ssh", "ssh", "-xT", "--", host, command, (char *)NULL);
		dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	}
	_exit(STATUS_CANNOT_START);
}

static int spawn(struct ssh *ssh, const char *command, int *ret_fd)
{
	_cleanup_close_ int ours = -1, theirs = -1, errors = -1;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	ssh->errors = pair[0];
	errors = pair[1];
	fcntl(ssh->errors, F_SETFL, O_NONBLOCK);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	fcntl(ours, F_SETFL, O_NONBLOCK);
	ssh->pid = fork();
	if (ssh->pid == 0)
		run(ssh->host, command, theirs, errors);
	if (ssh->pid < 0) {
		ssh->pid = 0;
		return -errno;
	}
	*ret_fd = ours;
	ours = -1;
	return 0;
}

int ssh_start(struct ssh **ret, int *ret_fd, const char *address, struct fault *fault)
{
	_cleanup_(ssh_freep) struct ssh *ssh = calloc(1, sizeof(*ssh));
	_cleanup_free_ char *command = NULL;
	const char *path;
	int r;

	if (!ssh)
		return fault_set(fault, -ENOMEM, "out of memory");
	ssh->errors = -1;
	r = parse_address(address, &ssh->host, &path);
	if (r < 0)
		return fault_set(fault, r, "%s: an address is ssh:HOST:/PATH", address);
	command = format_command(path);
	if (!command)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = spawn(ssh, command, ret_fd);
	if (r < 0)
		return fault_set(fault, r, "%s: cannot start ssh: %s", ssh->host, strerror(-r));
	*ret = TAKE_PTR(ssh);
	return 0;
}

static bool has_ended(struct ssh *ssh, int flags)
{
	pid_t pid;

	if (ssh->pid == 0)
		return true;
	do
		pid = waitpid(ssh->pid, &ssh->status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	ssh->pid = 0;
	return true;
}

static void end(struct ssh *ssh)
{
	if (ssh->pid > 0)
		kill(ssh->pid, SIGTERM);
	has_ended(ssh, 0);
}

struct ssh *ssh_free(struct ssh *ssh)
{
	if (!ssh)
		return NULL;
	end(ssh);
	if (ssh->errors >= 0)
		close(ssh->errors);
	free(ssh->host);
	free(ssh);
	return NULL;
}

const char *ssh_host(const struct ssh *ssh)
{
	return ssh->host;
}

int ssh_errors_fd(const struct ssh *ssh)
{
	return ssh->errors;
}

/* The last line that is not empty. */
static const char *last_line(char *text)
{
	const char *line = "";

	for (char *next; text; text = next) {
		next = strpbrk(text, "\r\n");
		if (next)
			*next++ = '\0';
		if (*text)
			line = text;
	}
	return line;
}

/* What branchctl there says begins as what it says here. */
static const char *skip_name(const char *line)
{
	static const char name[] = "branchctl: ";

	return strncmp(line, name, strlen(name)) == 0 ? line + strlen(name) : line;
}

void ssh_read_errors(struct ssh *ssh)
{
	ssize_t n;

	while ((n = read(ssh->errors, ssh->text + ssh->n_text, MAX_ERRORS - ssh->n_text)) > 0) {
		size_t kept;

		ssh->n_text += (size_t)n;
		kept = MIN(ssh->n_text, (size_t)MAX_ERRORS / 2); /* the end is what counts */
		memmove(ssh->text, ssh->text + ssh->n_text - kept, kept);
		ssh->n_text = kept;
		ssh->text[kept] = '\0';
	}
}

/* It closes its output just before it ends. */
static void wait_for_end(struct ssh *ssh)
{
	for (int i = 0; i < PATIENCE_MS / 10 && !has_ended(ssh, WNOHANG); i++) {
		ssh_read_errors(ssh);
		poll(NULL, 0, 10);
	}
	end(ssh);
}

int ssh_explain(struct ssh *ssh, struct fault *fault)
{
	char line[MAX_LINE + 1];
	int status;

	wait_for_end(ssh);
	ssh_read_errors(ssh);
	snprintf(line, sizeof(line), "%.*s", MAX_LINE, last_line(ssh->text));
	printable_make(line);
	status = WIFEXITED(ssh->status) ? WEXITSTATUS(ssh->status) : STATUS_SSH_FAILED;
	if (status == STATUS_CANNOT_START)
		return fault_set(fault, -ECONNRESET,
				 "%s: cannot start ssh (%s): install it, in Debian as "
				 "openssh-client",
				 ssh->host, line);
	if (status == STATUS_SSH_FAILED)
		return fault_set(fault, -ECONNRESET, "%s: ssh failed%s%s; see whether ssh %s works",
				 ssh->host, *line ? ": " : "", line, ssh->host);
	if (status == STATUS_NOT_FOUND)
		return fault_set(fault, -ECONNRESET,
				 "%s: no branchctl there (%s): install it, where commands by ssh "
				 "look for programs",
				 ssh->host, line);
	if (status == STATUS_USAGE)
		return fault_set(
			fault, -ECONNRESET,
			"%s: the branchctl there is too old for -H (%s): install this version",
			ssh->host, line);
	if (*line)
		return fault_set(fault, -ECONNRESET, "%s: %s", ssh->host, skip_name(line));
	return fault_set(fault, -ECONNRESET,
			 "%s: the daemon closed the connection; see journalctl -u branchd there",
			 ssh->host);
}
