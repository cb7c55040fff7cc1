/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/protocol/framing.h"
#include "common/util/cleanup.h"
#include "daemon/varlink/call.h"
#include "daemon/varlink/service.h"
#include "daemon/varlink/turns.h"

/* The next call is taken up when no more than this waits to be sent. */
#define LOW_WATER_BYTES      65536
/* A reader who takes less than this in the time of patience does not read. */
#define LEAST_PROGRESS_BYTES 65536
#define TIMER_ACCURACY_US    250000
/* Of the bytes that may wait: a quarter for all unprivileged users, an eighth for one of them. */
#define USERS_SHARE          4
#define ONE_USERS_SHARE      8
#define ERROR_REPLY_BYTES    4096 /* always has room */

struct connection {
	struct connections *all;
	struct connection *previous, *next;
	int fd;
	struct call_context context;
	struct framing in;
	struct outbox out;
	struct call *call; /* in service */
	struct turn turn;  /* waits while a call is there to be taken up */
	bool at_end;       /* the peer sends no more */
	bool dead;         /* to be freed by on_dead() */

	sd_event_source *on_io, *on_dead, *on_time;
	uint64_t half_since_us;   /* a message has begun; 0: none */
	uint64_t unread_since_us; /* bytes wait and the reader makes no progress; 0: none do */
	size_t unread_progress;   /* bytes sent since */
};

static uint64_t now_us(const struct connection *c)
{
	uint64_t now = 0;

	sd_event_now(c->all->event, CLOCK_MONOTONIC, &now);
	return now;
}

static uint64_t patience_us(const struct connection *c)
{
	return c->all->settings.patience_ms * 1000;
}

static bool wants_call(struct connection *c)
{
	return !c->call && c->out.n_bytes <= LOW_WATER_BYTES;
}

/* What there is to do next: called after whatever changed that. */
static void update(struct connection *c)
{
	bool ready = wants_call(c) && framing_has_message(&c->in);
	bool reads = wants_call(c) && !ready && !c->at_end;
	uint64_t since = 0;

	if (c->at_end && !c->call && !ready && c->out.n_bytes == 0)
		c->dead = true;
	if (c->dead) {
		sd_event_source_set_enabled(c->on_io, SD_EVENT_OFF);
		sd_event_source_set_enabled(c->on_time, SD_EVENT_OFF);
		sd_event_source_set_enabled(c->on_dead, SD_EVENT_ONESHOT);
		turns_leave(c->all->turns, &c->turn);
		return;
	}
	if (ready)
		turns_wait(c->all->turns, &c->turn);
	else
		turns_leave(c->all->turns, &c->turn);
	sd_event_source_set_io_events(c->on_io,
				      (reads ? EPOLLIN : 0) | (c->out.n_bytes > 0 ? EPOLLOUT : 0));

	if (!reads || !framing_holds_bytes(&c->in))
		c->half_since_us = 0;
	else if (c->half_since_us == 0)
		c->half_since_us = now_us(c);
	if (c->out.n_bytes == 0)
		c->unread_since_us = 0;
	else if (c->unread_since_us == 0)
		c->unread_since_us = now_us(c);

	since = c->half_since_us ?: c->unread_since_us;
	if (c->unread_since_us)
		since = MIN(since, c->unread_since_us);
	if (since > 0)
		sd_event_source_set_time(c->on_time, since + patience_us(c));
	sd_event_source_set_enabled(c->on_time, since > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static void flush(struct connection *c)
{
	size_t before = c->out.n_bytes, sent;

	if (outbox_send(&c->out, c->fd) < 0)
		c->dead = true;
	sent = before - c->out.n_bytes;
	c->all->counts.pending_bytes -= sent;
	c->unread_progress += sent;
	if (c->unread_progress >= LEAST_PROGRESS_BYTES || c->out.n_bytes == 0) {
		c->unread_progress = 0;
		c->unread_since_us = 0;
	}
}

static bool has_room_for(const struct connection *c, size_t n_bytes)
{
	size_t max = c->all->settings.max_pending_bytes, of_user = 0, of_users = 0;
	const struct peer *peer = &c->context.peer;

	if (peer->privileged)
		return n_bytes <= max && c->all->counts.pending_bytes <= max - n_bytes;
	for (const struct connection *other = c->all->first; other; other = other->next) {
		if (other->context.peer.privileged)
			continue;
		of_users += other->out.n_bytes;
		of_user += other->context.peer.uid == peer->uid ? other->out.n_bytes : 0;
	}
	return of_user + n_bytes <= max / ONE_USERS_SHARE &&
	       of_users + n_bytes <= max / USERS_SHARE;
}

static bool has_room(const struct connection *c, size_t n_bytes)
{
	return n_bytes <= ERROR_REPLY_BYTES || has_room_for(c, n_bytes);
}

/* call_transport.send */
static int send_pieces(void *userdata, const struct outbox_piece *pieces, size_t n)
{
	struct connection *connection = userdata;
	size_t n_bytes = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		n_bytes += pieces[i].n;
	if (!connection->dead && !has_room(connection, n_bytes)) {
		connection->all->counts.refused_replies++;
		r = -ENOBUFS;
	}
	if (!connection->dead && r == 0)
		r = outbox_reserve(&connection->out, n);
	if (connection->dead || r < 0) {
		for (size_t i = 0; i < n; i++)
			free(pieces[i].bytes);
		return r;
	}
	for (size_t i = 0; i < n; i++)
		outbox_add(&connection->out, pieces[i].bytes, pieces[i].n);
	connection->all->counts.pending_bytes += n_bytes;
	flush(connection);
	update(connection);
	return 0;
}

/* call_transport.end */
static void end_call(void *userdata)
{
	struct connection *c = userdata;

	c->call = call_free(c->call);
	update(c);
}

/* call_transport.fail */
static void fail_call(void *userdata)
{
	struct connection *c = userdata;

	c->call = call_free(c->call);
	c->dead = true;
	update(c);
}

static const struct call_transport transport = {
	.send = send_pieces,
	.end = end_call,
	.fail = fail_call,
};

/* One call, from its message to the return of its handler. */
static void serve_next(struct connection *c)
{
	struct server_counts *counts = &c->all->counts;
	struct call *call = NULL;
	char *text;
	size_t n;
	int r;

	r = framing_next(&c->in, &text, &n);
	if (r > 0)
		r = call_parse(&call, &c->context, text, n);
	if (r < 0) {
		counts->too_long += r == -EMSGSIZE;
		counts->not_understood += r == -EBADMSG;
		c->dead = true;
		return;
	}
	counts->calls++;
	c->call = call;
	r = service_handle(&c->all->settings, call);
	if (r < 0 && c->call == call)
		call_internal_error(call, r);
}

static void on_turn(struct turn *turn)
{
	struct connection *c = container_of(turn, struct connection, turn);

	if (!c->dead && wants_call(c) && framing_has_message(&c->in))
		serve_next(c);
	update(c);
}

static int on_dead(sd_event_source *source, void *userdata)
{
	connection_free(userdata);
	return 0;
}

/* One read; a peer that is gone, or sent too much, is marked dead. */
static void receive(struct connection *c)
{
	char *room;
	size_t n_room;
	ssize_t n;
	int r;

	r = framing_reserve(&c->in, &room, &n_room);
	if (r < 0) {
		c->all->counts.too_long += r == -EMSGSIZE;
		c->dead = true;
		return;
	}
	n = recv(c->fd, room, n_room, MSG_DONTWAIT);
	if (n > 0)
		framing_fill(&c->in, (size_t)n);
	else if (n == 0)
		c->at_end = true;
	else if (errno != EAGAIN && errno != EINTR)
		c->dead = true;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct connection *c = userdata;

	turns_wait_longer(c->all->turns);
	/* at HUP nobody can read a reply any more */
	if (events & (EPOLLHUP | EPOLLERR))
		c->dead = true;
	if (!c->dead && (events & EPOLLOUT))
		flush(c);
	if (!c->dead && (events & EPOLLIN))
		receive(c);
	update(c);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct connection *c = userdata;

	c->dead = true;
	c->all->counts.stalled++;
	update(c);
	return 0;
}

static int add_sources(struct connection *c)
{
	sd_event *event = c->all->event;
	int r;

	r = sd_event_add_io(event, &c->on_io, c->fd, EPOLLIN, on_io, c);
	if (r >= 0)
		r = sd_event_add_defer(event, &c->on_dead, on_dead, c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->on_dead, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &c->on_time, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US,
				      on_time, c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->on_time, SD_EVENT_OFF);
	if (r < 0)
		return r;
	sd_event_source_set_priority(c->on_io, SERVER_PRIORITY);
	sd_event_source_set_priority(c->on_dead, SERVER_PRIORITY - 1);
	sd_event_source_set_priority(c->on_time, SERVER_PRIORITY);
	return 0;
}

int connection_new(struct connections *all, int fd, const struct peer *peer)
{
	_cleanup_(connection_freep) struct connection *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	c->all = all;
	c->fd = fd;
	c->context = (struct call_context){
		.transport = &transport,
		.connection = c,
		.settings = &all->settings,
		.counts = &all->counts,
		.peer = *peer,
	};
	c->turn = (struct turn){ .uid = peer->uid, .run = on_turn };
	framing_init(&c->in, all->settings.max_message_bytes);
	c->next = all->first;
	if (c->next)
		c->next->previous = c;
	all->first = c;
	all->counts.open++;
	r = add_sources(c);
	if (r < 0)
		return r;
	TAKE_PTR(c);
	return 0;
}

struct connection *connection_free(struct connection *connection)
{
	struct connection *c = connection;

	if (!c)
		return NULL;
	c->dead = true;
	if (c->call)
		call_abandon(TAKE_PTR(c->call));
	sd_event_source_disable_unref(c->on_io);
	sd_event_source_disable_unref(c->on_dead);
	turns_leave(c->all->turns, &c->turn);
	sd_event_source_disable_unref(c->on_time);
	c->all->counts.pending_bytes -= c->out.n_bytes;
	c->all->counts.open--;
	if (c->previous)
		c->previous->next = c->next;
	else
		c->all->first = c->next;
	if (c->next)
		c->next->previous = c->previous;
	outbox_done(&c->out);
	framing_done(&c->in);
	close(c->fd);
	free(c);
	return NULL;
}

unsigned int connection_count_of(const struct connections *all, uid_t uid)
{
	unsigned int n = 0;

	for (const struct connection *c = all->first; c; c = c->next)
		n += c->context.peer.uid == uid;
	return n;
}
