/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/desktop.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* xdg-open takes $BROWSER without a display, too: a browser on the terminal. */
static bool can_show(void)
{
	return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("BROWSER");
}

/* xdg-open has several lines for each browser that it does not find. */
static int spawn(pid_t *ret, const char *path)
{
	char *arguments[] = { (char *)"xdg-open", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawnp(ret, "xdg-open", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status == 0 ? 0 : -EIO;
}

int desktop_show(const char *path, struct fault *fault)
{
	_cleanup_free_ char *whole = realpath(path, NULL);
	const char *shown = whole ?: path;
	pid_t pid = 0;
	int r;

	if (!can_show())
		return fault_set(fault, -ENODEV,
				 "wrote %s, but there is no display (DISPLAY and WAYLAND_DISPLAY "
				 "are unset): open the file in a browser",
				 shown);
	r = spawn(&pid, shown);
	if (r < 0)
		return fault_set(fault, r,
				 "wrote %s, but cannot run xdg-open: %s; open the file in a "
				 "browser",
				 shown, strerror(-r));
	r = wait_for(pid);
	if (r < 0)
		return fault_set(fault, r,
				 "wrote %s, but xdg-open found nothing that shows it: open the "
				 "file in a browser",
				 shown);
	return 0;
}
