/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/table-exchange.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/cleanup.h"

/* Requests and answers together are at most TABLE_EXCHANGE_MAX: each answer is of a request. */
struct table_exchange {
	pthread_mutex_t lock;
	struct wanted_table wanted[TABLE_EXCHANGE_MAX];
	struct built_table built[TABLE_EXCHANGE_MAX];
	size_t first_wanted, n_wanted, first_built, n_built;
	size_t n_open; /* requests whose answer the collector has not taken */
	int wanted_fd;
};

int table_exchange_new(struct table_exchange **ret)
{
	_cleanup_(table_exchange_freep) struct table_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	pthread_mutex_init(&x->lock, NULL);
	x->wanted_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (x->wanted_fd < 0)
		return -errno;
	*ret = TAKE_PTR(x);
	return 0;
}

struct table_exchange *table_exchange_free(struct table_exchange *exchange)
{
	if (!exchange)
		return NULL;
	for (size_t i = 0; i < exchange->n_built; i++)
		unwind_table_done(
			&exchange->built[(exchange->first_built + i) % TABLE_EXCHANGE_MAX].table);
	if (exchange->wanted_fd >= 0)
		close(exchange->wanted_fd);
	pthread_mutex_destroy(&exchange->lock);
	free(exchange);
	return NULL;
}

static void set_readable(int fd, bool readable)
{
	uint64_t n = 1;

	if (readable)
		(void)!write(fd, &n, sizeof(n));
	else
		(void)!read(fd, &n, sizeof(n));
}

bool table_exchange_want(struct table_exchange *exchange, const struct wanted_table *wanted)
{
	struct table_exchange *x = exchange;
	bool room;

	pthread_mutex_lock(&x->lock);
	room = x->n_open < TABLE_EXCHANGE_MAX;
	if (room) {
		x->wanted[(x->first_wanted + x->n_wanted++) % TABLE_EXCHANGE_MAX] = *wanted;
		x->n_open++;
		set_readable(x->wanted_fd, true);
	}
	pthread_mutex_unlock(&x->lock);
	return room;
}

bool table_exchange_take_built(struct table_exchange *exchange, struct built_table *ret)
{
	struct table_exchange *x = exchange;
	bool there;

	pthread_mutex_lock(&x->lock);
	there = x->n_built > 0;
	if (there) {
		*ret = x->built[x->first_built];
		x->first_built = (x->first_built + 1) % TABLE_EXCHANGE_MAX;
		x->n_built--;
		x->n_open--;
	}
	pthread_mutex_unlock(&x->lock);
	return there;
}

bool table_exchange_take_wanted(struct table_exchange *exchange, struct wanted_table *ret)
{
	struct table_exchange *x = exchange;
	bool there;

	pthread_mutex_lock(&x->lock);
	there = x->n_wanted > 0;
	if (there) {
		*ret = x->wanted[x->first_wanted];
		x->first_wanted = (x->first_wanted + 1) % TABLE_EXCHANGE_MAX;
		x->n_wanted--;
	}
	if (x->n_wanted == 0)
		set_readable(x->wanted_fd, false);
	pthread_mutex_unlock(&x->lock);
	return there;
}

void table_exchange_put_built(struct table_exchange *exchange, struct built_table *built)
{
	struct table_exchange *x = exchange;

	pthread_mutex_lock(&x->lock);
	x->built[(x->first_built + x->n_built++) % TABLE_EXCHANGE_MAX] = *built;
	built->table = (struct unwind_table){};
	pthread_mutex_unlock(&x->lock);
}

int table_exchange_wanted_fd(const struct table_exchange *exchange)
{
	return exchange->wanted_fd;
}
