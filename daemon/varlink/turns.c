/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start-time fair queueing by CPU time: P. Goyal, H. M. Vin and H. Cheng, SIGCOMM 1996. */
#include "daemon/varlink/turns.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/varlink/server-settings.h"

/* Users known at once. More than these share their turns with another user. */
#define MAX_USERS  256
/* Pieces of other work that may go before a turn: more than there are connections. */
#define MAX_OTHERS 512
#define LEAST_NS   1000 /* of a turn, however cheap: users of cheap turns take turns, too */

struct turn_user {
	uid_t uid;
	uint64_t used_ns;
	uint64_t served; /* the number of the last turn: the smaller goes first at the same time */
	struct turn *first, *last;
};

struct turns {
	struct turns_settings settings;
	sd_event_source *on_turn;
	struct turn_user users[MAX_USERS];
	size_t n_users, n_waiting; /* turns */
	uint64_t floor_ns;         /* what the user of the last turn had used */
	uint64_t n_served;
	unsigned int n_others; /* since the last turn */
};

static uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static struct turn_user *find_user(struct turns *turns, uid_t uid)
{
	for (size_t i = 0; i < turns->n_users; i++)
		if (turns->users[i].uid == uid)
			return &turns->users[i];
	return NULL;
}

/* One who does not wait, and has used least. */
static struct turn_user *find_idle(struct turns *turns)
{
	struct turn_user *idle = NULL;

	for (size_t i = 0; i < turns->n_users; i++)
		if (!turns->users[i].first && (!idle || turns->users[i].used_ns < idle->used_ns))
			idle = &turns->users[i];
	return idle;
}

static struct turn_user *want_user(struct turns *turns, uid_t uid)
{
	struct turn_user *user = find_user(turns, uid);

	if (user)
		return user;
	if (turns->n_users < MAX_USERS)
		user = &turns->users[turns->n_users++];
	else
		user = find_idle(turns);
	if (!user)
		return &turns->users[uid % MAX_USERS];
	*user = (struct turn_user){ .uid = uid, .used_ns = turns->floor_ns };
	return user;
}

void turns_wait(struct turns *turns, struct turn *turn)
{
	struct turn_user *user;

	if (turn->user)
		return;
	user = want_user(turns, turn->uid);
	if (!user->first)
		user->used_ns = MAX(user->used_ns, turns->floor_ns);
	turn->user = user;
	turn->next = NULL;
	turn->previous = user->last;
	if (user->last)
		user->last->next = turn;
	else
		user->first = turn;
	user->last = turn;
	if (turns->n_waiting++ == 0)
		sd_event_source_set_enabled(turns->on_turn, SD_EVENT_ONESHOT);
}

void turns_leave(struct turns *turns, struct turn *turn)
{
	struct turn_user *user = turn->user;

	if (!user)
		return;
	if (turn->previous)
		turn->previous->next = turn->next;
	else
		user->first = turn->next;
	if (turn->next)
		turn->next->previous = turn->previous;
	else
		user->last = turn->previous;
	turn->user = NULL;
	turns->n_waiting--;
}

void turns_charge(struct turns *turns, uid_t uid, uint64_t ns)
{
	want_user(turns, uid)->used_ns += ns;
}

static bool goes_first(const struct turn_user *a, const struct turn_user *b)
{
	return a->used_ns != b->used_ns ? a->used_ns < b->used_ns : a->served < b->served;
}

static struct turn_user *choose(struct turns *turns)
{
	struct turn_user *chosen = NULL;

	for (size_t i = 0; i < turns->n_users; i++) {
		struct turn_user *user = &turns->users[i];

		if (user->first && (!chosen || goes_first(user, chosen)))
			chosen = user;
	}
	return chosen;
}

/* The turn may be freed, and all users may change, while it runs. */
static void serve(struct turns *turns, struct turn_user *user)
{
	struct turn *turn = user->first;
	uint64_t start_ns, passed_ns;
	uid_t uid = user->uid;

	user->served = ++turns->n_served;
	turns->floor_ns = MAX(turns->floor_ns, user->used_ns);
	turns_leave(turns, turn);
	start_ns = turns->settings.cpu_ns();
	turn->run(turn);
	passed_ns = turns->settings.cpu_ns() - start_ns;
	turns_charge(turns, uid, MAX(passed_ns, (uint64_t)LEAST_NS));
}

static void set_priority(struct turns *turns, int64_t priority)
{
	sd_event_source_set_priority(turns->on_turn, priority);
}

void turns_wait_longer(struct turns *turns)
{
	if (turns->n_waiting > 0 && ++turns->n_others == MAX_OTHERS)
		set_priority(turns, SERVER_PRIORITY - 1);
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct turns *turns = userdata;
	struct turn_user *user = choose(turns);

	if (turns->n_others >= MAX_OTHERS)
		set_priority(turns, SERVER_PRIORITY + 1);
	turns->n_others = 0;
	if (user)
		serve(turns, user);
	if (turns->n_waiting > 0)
		return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	turns->n_users = 0; /* nobody is behind another */
	return 0;
}

int turns_new(struct turns **ret, const struct turns_settings *settings)
{
	_cleanup_(turns_freep) struct turns *turns = calloc(1, sizeof(*turns));
	int r;

	if (!turns)
		return -ENOMEM;
	turns->settings = *settings;
	if (!turns->settings.cpu_ns)
		turns->settings.cpu_ns = thread_cpu_ns;
	r = sd_event_add_defer(settings->event, &turns->on_turn, on_turn, turns);
	if (r >= 0)
		r = sd_event_source_set_priority(turns->on_turn, SERVER_PRIORITY + 1);
	if (r >= 0)
		r = sd_event_source_set_enabled(turns->on_turn, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(turns);
	return 0;
}

struct turns *turns_free(struct turns *turns)
{
	if (!turns)
		return NULL;
	assert(turns->n_waiting == 0);
	sd_event_source_disable_unref(turns->on_turn);
	free(turns);
	return NULL;
}
