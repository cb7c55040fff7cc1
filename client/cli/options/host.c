/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options/value.h"
#include "client/rpc/ssh.h"

int options_host_add(struct options *options, const char *host, struct fault *fault)
{
	if (!ssh_is_host(host))
		return options_wrong(fault, "-H", host, "[USER@]HOST, as ssh takes it");
	if (options->n_hosts == OPTIONS_MAX_HOSTS)
		return fault_set(fault, -EINVAL, "-H: at most %d hosts", OPTIONS_MAX_HOSTS);
	options->hosts[options->n_hosts++] = host;
	return 0;
}

static int refuse_second(struct fault *fault)
{
	return fault_set(
		fault, -EINVAL,
		"-H twice is for two windows to compare, as in branchctl diff -H a @-1 -H b "
		"@-1");
}

int options_host_check(const struct options *options, const struct window_ref *ref,
		       const struct window_ref *other, struct fault *fault)
{
	bool first = ref->kind == WINDOW_REF_RECORDING,
	     second = other->kind == WINDOW_REF_RECORDING;

	if (options->host_list && first)
		return fault_set(
			fault, -EINVAL,
			"--host-list is for windows of daemons: leave it out for a recording");
	if (options->host_list && options->n_hosts > 0)
		return fault_set(fault, -EINVAL, "give either -H or --host-list");
	if (options->host_timeout_us > 0 && !options->host_list)
		return fault_set(fault, -EINVAL, "--host-timeout works only with --host-list");
	if (options->n_hosts > 0 && first && second)
		return fault_set(
			fault, -EINVAL,
			"-H is for windows of a daemon: copy the recording here, or leave -H out");
	return options->n_hosts > 1 && (first || second) ? refuse_second(fault) : 0;
}

/* The address of a socket on that host. */
static int set_address(struct options *options, size_t i, const char *path, const char **ret,
		       struct fault *fault)
{
	const char *host = options->hosts[i];

	if (strcmp(host, ".") == 0) {
		*ret = path;
		return 0;
	}
	if (*path != '/')
		return options_wrong(fault, "--socket", path,
				     "with -H an absolute path on that host");
	options->addresses[i] = ssh_format_address(host, path);
	if (!options->addresses[i])
		return fault_set(fault, -ENOMEM, "out of memory");
	*ret = options->addresses[i];
	return 0;
}

int options_host_set_sockets(struct options *options, struct fault *fault)
{
	const char *path = options->source.socket;
	int r = 0;

	if (options->host_list && *path != '/')
		return options_wrong(fault, "--socket", path,
				     "with --host-list an absolute path on each host");
	if (options->n_hosts > 1 && !options->new_window)
		return refuse_second(fault);
	if (options->n_hosts > 0)
		r = set_address(options, 0, path, &options->source.socket, fault);
	options->new_socket = options->source.socket;
	if (r >= 0 && options->n_hosts > 1)
		r = set_address(options, 1, path, &options->new_socket, fault);
	return r;
}

void options_host_done(struct options *options)
{
	for (size_t i = 0; i < OPTIONS_MAX_HOSTS; i++)
		free(options->addresses[i]);
}
