/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may connect: a quarter of all connections is reserved for privileged users, a sixteenth for
 * root; a member of the group has half of them at most, and an unprivileged user only a few. A
 * connection above the limits is closed at once. When file descriptors run out, the listening
 * socket rests a while, as it would be readable all the time.
 */
#include "daemon/varlink/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/util/cleanup.h"
#include "daemon/varlink/connection.h"
#include "daemon/varlink/turns.h"

#define DEFAULT_CONNECTIONS   128
#define DEFAULT_OF_ONE_UID    16
#define DEFAULT_MESSAGE_BYTES (64 << 10)
#define DEFAULT_PENDING_BYTES (256 << 20)
#define DEFAULT_PATIENCE_MS   10000
#define BACKLOG               1024
#define ACCEPTED_AT_ONCE      16
#define REST_US               500000 /* without descriptors */

struct server {
	struct connections connections;
	int fd;
	struct turns *own_turns; /* NULL: those of the settings */
	sd_event_source *on_connect, *on_rested;
};

/* Whether one more connection of @peer may be. */
static bool admits(const struct server *server, const struct peer *peer)
{
	const struct connections *all = &server->connections;
	size_t max = all->settings.max_connections;

	if (peer->is_root)
		return all->counts.open < max;
	if (peer->privileged)
		return all->counts.open < max - max / 16 &&
		       connection_count_of(all, peer->uid) < max / 2;
	return all->counts.open < max - max / 4 &&
	       connection_count_of(all, peer->uid) < all->settings.max_of_one_uid;
}

int server_add_connection(struct server *server, int fd)
{
	struct server_counts *counts = &server->connections.counts;
	struct peer peer;
	int r;

	counts->connections++;
	r = server->connections.settings.get_peer(&peer, fd, server->connections.settings.group);
	if (r == 0 && !admits(server, &peer))
		r = -EUSERS;
	if (r == 0)
		return connection_new(&server->connections, fd, &peer);
	counts->refused_connections++;
	close(fd);
	return r;
}

static int on_rested(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;

	return sd_event_source_set_enabled(server->on_connect, SD_EVENT_ON);
}

static void rest(struct server *server)
{
	if (sd_event_source_set_time_relative(server->on_rested, REST_US) < 0)
		return;
	if (sd_event_source_set_enabled(server->on_rested, SD_EVENT_ONESHOT) < 0)
		return;
	sd_event_source_set_enabled(server->on_connect, SD_EVENT_OFF);
}

/* 0, or -errno: -EAGAIN once nobody is left. */
static int accept_one(struct server *server, int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -errno;
	server_add_connection(server, fd); /* a refusal is counted there */
	return 0;
}

static int on_connect(sd_event_source *source, int listening, uint32_t events, void *userdata)
{
	struct server *server = userdata;
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < ACCEPTED_AT_ONCE; i++)
		r = accept_one(server, listening);
	if (r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM)
		rest(server);
	turns_wait_longer(server->connections.turns);
	return 0;
}

/* @fd is the server's from here on. */
static int add_sources(struct server *server, int fd)
{
	sd_event *event = server->connections.event;
	int r;

	server->fd = fd;
	if (fd < 0)
		return 0;
	/* a connection may be gone again when it is accepted */
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = sd_event_add_io(event, &server->on_connect, fd, EPOLLIN, on_connect, server);
	if (r >= 0)
		r = sd_event_source_set_priority(server->on_connect, SERVER_PRIORITY);
	if (r >= 0)
		r = sd_event_add_time(event, &server->on_rested, CLOCK_MONOTONIC, 0, 0, on_rested,
				      server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->on_rested, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}

/* Those of the settings, or its own. */
static int add_turns(struct server *server)
{
	struct connections *all = &server->connections;
	int r = 0;

	if (!all->settings.turns)
		r = turns_new(&server->own_turns, &(struct turns_settings){ .event = all->event });
	all->turns = all->settings.turns ?: server->own_turns;
	return r;
}

static void set_defaults(struct server_settings *s)
{
	s->get_peer = s->get_peer ?: peer_get;
	s->max_connections = s->max_connections ?: DEFAULT_CONNECTIONS;
	s->max_of_one_uid = s->max_of_one_uid ?: DEFAULT_OF_ONE_UID;
	s->max_message_bytes = s->max_message_bytes ?: DEFAULT_MESSAGE_BYTES;
	s->max_pending_bytes = s->max_pending_bytes ?: DEFAULT_PENDING_BYTES;
	s->patience_ms = s->patience_ms ?: DEFAULT_PATIENCE_MS;
}

int server_new(struct server **ret, sd_event *event, int fd, const struct server_settings *settings,
	       struct fault *fault)
{
	_cleanup_(server_freep) struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server) {
		if (fd >= 0)
			close(fd);
		return fault_set(fault, -ENOMEM, "no memory to serve calls");
	}
	server->connections.event = sd_event_ref(event);
	server->connections.settings = *settings;
	set_defaults(&server->connections.settings);
	r = add_turns(server);
	r = add_sources(server, fd) ?: r;
	if (r < 0)
		return fault_set(fault, r, "cannot wait for connections: %s", strerror(-r));
	*ret = TAKE_PTR(server);
	return 0;
}

struct server *server_free(struct server *server)
{
	if (!server)
		return NULL;
	while (server->connections.first)
		connection_free(server->connections.first);
	sd_event_source_disable_unref(server->on_connect);
	sd_event_source_disable_unref(server->on_rested);
	turns_free(server->own_turns);
	sd_event_unref(server->connections.event);
	if (server->fd >= 0)
		close(server->fd);
	free(server);
	return NULL;
}

void server_get_counts(const struct server *server, struct server_counts *ret)
{
	*ret = server->connections.counts;
}

/* A socket that nobody listens on any more, left by one that was killed, goes. */
static int remove_stale(const struct sockaddr_un *address, struct fault *fault)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return fault_set(fault, -errno, "cannot make a socket: %s", strerror(errno));
	if (lstat(address->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return fault_set(fault, -EEXIST, "%s is there and is no socket", address->sun_path);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return fault_set(fault, -EADDRINUSE, "%s is served already, by another branchd?",
				 address->sun_path);
	if (unlink(address->sun_path) < 0)
		return fault_set(fault, -errno, "cannot remove %s, which is stale: %s",
				 address->sun_path, strerror(errno));
	return 0;
}

int server_listen(const char *path, gid_t group, struct fault *fault)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	mode_t mask;
	int r, listening;

	if (strlen(path) >= sizeof(address.sun_path))
		return fault_set(fault, -ENAMETOOLONG, "%s is too long for a socket", path);
	strcpy(address.sun_path, path);
	r = remove_stale(&address, fault);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fault_set(fault, -errno, "cannot make a socket: %s", strerror(errno));

	/* nobody else may connect until the group is set */
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r < 0)
		return fault_set(fault, r, "cannot bind %s: %s", path, strerror(-r));
	if (group != (gid_t)-1 && chown(path, (uid_t)-1, group) < 0)
		return fault_set(fault, -errno, "cannot give %s to the group: %s", path,
				 strerror(errno));
	if (chmod(path, 0660) < 0 || listen(fd, BACKLOG) < 0)
		return fault_set(fault, -errno, "cannot listen on %s: %s", path, strerror(errno));
	listening = fd;
	fd = -1;
	return listening;
}
