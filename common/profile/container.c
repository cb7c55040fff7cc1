/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/container.h"

#include <stdio.h>
#include <string.h>

#include "common/profile/patterns.h"
#include "common/util/macro.h"

#define N_FULL_ID 64
#define N_POD_UID 36
#define MIN_ID    4

static size_t hex_length(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* "docker-ID.scope": @n bytes of a path. */
static bool find_scope(struct container *ret, const char *name, size_t n)
{
	static const struct {
		const char *prefix, *engine;
	} scopes[] = {
		{ "docker-", "docker" },      { "libpod-", "podman" },
		{ "crio-", "cri-o" },         { "cri-containerd-", "containerd" },
		{ "nerdctl-", "containerd" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		size_t n_prefix = strlen(scopes[i].prefix), n_id;

		if (n <= n_prefix || memcmp(name, scopes[i].prefix, n_prefix) != 0)
			continue;
		n_id = hex_length(name + n_prefix);
		if (n_id < CONTAINER_SHORT_ID)
			return false;
		if (n_prefix + n_id != n && strncmp(name + n_prefix + n_id, ".scope", 6) != 0)
			return false;
		ret->engine = scopes[i].engine;
		ret->id = name + n_prefix;
		ret->n_id = n_id;
		return true;
	}
	return false;
}

/* "pod1b4f...", and with the systemd driver "kubepods-besteffort-pod1b4f....slice". */
static bool find_pod(struct container *ret, const char *name, size_t n)
{
	static const char tree[] = "kubepods", pod[] = "pod", slice[] = ".slice";
	size_t n_slice = sizeof(slice) - 1;

	if (n > n_slice && memcmp(name + n - n_slice, slice, n_slice) == 0 &&
	    strncmp(name, tree, sizeof(tree) - 1) == 0)
		n -= n_slice;
	else if (strncmp(name, pod, sizeof(pod) - 1) != 0)
		return false;
	if (n < N_POD_UID + sizeof(pod) - 1 ||
	    memcmp(name + n - N_POD_UID - sizeof(pod) + 1, pod, sizeof(pod) - 1) != 0)
		return false;
	ret->pod = name + n - N_POD_UID;
	ret->n_pod = N_POD_UID;
	return true;
}

/* "/docker/ID": a whole id, whose engine the name before it tells. */
static bool find_plain(struct container *ret, const char *name, size_t n, const char *parent)
{
	if (n != N_FULL_ID || hex_length(name) < n)
		return false;
	ret->engine = strncmp(parent, "docker/", 7) == 0 ? "docker" :
		      ret->pod                           ? "kubernetes" :
							   "containerd";
	ret->id = name;
	ret->n_id = n;
	return true;
}

bool container_find(struct container *ret, const char *group)
{
	struct container found = {};
	const char *parent = "";
	size_t n;

	if (!group)
		return false;
	for (; *group; group += n) {
		group += *group == '/';
		n = strcspn(group, "/");
		if (!find_pod(&found, group, n) && !find_scope(&found, group, n))
			find_plain(&found, group, n, parent);
		parent = group;
	}
	if (found.id)
		*ret = found;
	return found.id;
}

const char *container_choose(const char *unit, const char *path)
{
	struct container by_unit = {}, by_path;

	if (!container_find(&by_path, path))
		return unit;
	return container_find(&by_unit, unit) && (by_unit.pod || !by_path.pod) ? unit : path;
}

/* The systemd driver writes the uid of a pod with '_' for '-'. */
static void copy_pod(char ret[N_POD_UID + 1], const struct container *container)
{
	for (size_t i = 0; i < N_POD_UID; i++)
		ret[i] = container->pod[i] == '_' ? '-' : container->pod[i];
	ret[N_POD_UID] = '\0';
}

char *container_format(char buffer[CONTAINER_TEXT_MAX], const struct container *container)
{
	char uid[N_POD_UID + 1] = "";

	if (container->pod)
		copy_pod(uid, container);
	snprintf(buffer, CONTAINER_TEXT_MAX, "%s/%.*s%s%s", container->engine,
		 (int)MIN(container->n_id, (size_t)128), container->id, container->pod ? "/" : "",
		 uid);
	return buffer;
}

static bool is_pod(const struct container *container, const char *pattern)
{
	char uid[N_POD_UID + 1];

	if (!container->pod)
		return false;
	copy_pod(uid, container);
	return pattern_matches(pattern, uid);
}

static bool is_container(const char *pattern, const void *userdata)
{
	const struct container *container = userdata;
	size_t n = strlen(pattern);
	char id[256];

	if (n >= MIN_ID && n <= container->n_id && strncmp(pattern, container->id, n) == 0)
		return true;
	snprintf(id, sizeof(id), "%.*s", (int)container->n_id, container->id);
	return pattern_matches(pattern, id) || is_pod(container, pattern);
}

bool container_is_in(const struct container *container, const char *list)
{
	return patterns_any(list, is_container, container);
}
