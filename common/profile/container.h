/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The container that a control group belongs to, as its name alone tells: docker, podman,
 * containerd, CRI-O and the pods of Kubernetes, with the systemd driver ("docker-ID.scope") and
 * without
 * ("/docker/ID"). No container engine is asked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As many characters of an id as the engines' own tools show. */
#define CONTAINER_SHORT_ID 12

/* Parts of the text that was parsed, whose ends are in n_id and n_pod. */
struct container {
	const char *engine; /* "docker", "podman", "containerd", "cri-o", "kubernetes" */
	const char *id;     /* hexadecimal digits */
	size_t n_id;
	const char *pod; /* the uid of the pod; NULL: none is known */
	size_t n_pod;
};

/*
 * The innermost container of @group: a systemd unit, or the path of a control group. False if there
 * is none; NULL is none.
 */
bool container_find(struct container *ret, const char *group);

/* @path, the control group, if it alone tells the container or the pod of @unit; else @unit. */
const char *container_choose(const char *unit, const char *path);

#define CONTAINER_TEXT_MAX 256

/* "ENGINE/ID" or "ENGINE/ID/POD" in @buffer, which it returns; an id that is too long is cut. */
char *container_format(char buffer[CONTAINER_TEXT_MAX], const struct container *container);

/*
 * Whether one of the names in @list, see patterns.h, stands for the container: its id or the begin
 * of it, from four digits on; the uid of its pod; or a shell pattern for either.
 */
bool container_is_in(const struct container *container, const char *list);
