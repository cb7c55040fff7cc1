/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/code-reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/api/error-reply.h"
#include "daemon/varlink/parameters.h"

struct request {
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t n_build_id;
	int64_t start;
	int64_t major, minor, inode, ctime_ns; /* -1: not of an untrusted object */
};

/* The number of bytes that @hex says, or 0 where it does not say any, or more than @n. */
static size_t parse_hex(uint8_t *ret, size_t n, const char *hex)
{
	size_t length = strlen(hex);

	if (length == 0 || length % 2 != 0 || length / 2 > n ||
	    strspn(hex, "0123456789abcdef") != length)
		return 0;
	for (size_t i = 0; i < length / 2; i++)
		sscanf(hex + 2 * i, "%2hhx", &ret[i]);
	return length / 2;
}

/* False, and the call was answered. */
static bool read_request(struct request *ret, struct call *call)
{
	const char *build_id = "";
	const struct parameter parameters[] = {
		{ .name = "build_id", .text = &build_id },
		{ .name = "start", .number = &ret->start },
		{ .name = "major", .number = &ret->major },
		{ .name = "minor", .number = &ret->minor },
		{ .name = "inode", .number = &ret->inode },
		{ .name = "ctime_ns", .number = &ret->ctime_ns },
	};

	ret->start = ret->major = ret->minor = ret->inode = ret->ctime_ns = -1;
	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)))
		return false;
	ret->n_build_id = parse_hex(ret->build_id, sizeof(ret->build_id), build_id);
	if (ret->n_build_id > 0 && ret->start >= 0)
		return true;
	call_invalid_parameter(call, ret->start < 0 ? "start" : "build_id");
	return false;
}

static int reply_bytes(struct call *call, const uint8_t *bytes, size_t n, uint16_t machine)
{
	_cleanup_free_ char *hex = malloc(2 * n + 1);

	if (!hex)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return call_reply(call, json_pack("{s:i, s:s}", "machine", machine, "code", hex), false);
}

int code_reply(struct call *call, struct store *store)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct store_function function;
	struct request request;
	struct fault fault = {};
	uint16_t machine;
	int n;

	if (!read_request(&request, call))
		return 0;
	if (!call_is_privileged(call)) {
		call_error(call, "org.varlink.service.PermissionDenied", NULL);
		return 0;
	}
	bytes = malloc(STORE_CODE_MAX_FUNCTION);
	if (!bytes)
		return -ENOMEM;
	function = (struct store_function){
		.build_id = request.build_id,
		.n_build_id = request.n_build_id,
		.start = (uint64_t)request.start,
		.untrusted = request.ctime_ns >= 0,
		.major = (uint32_t)request.major,
		.minor = (uint32_t)request.minor,
		.inode = (uint64_t)request.inode,
		.ctime_ns = (uint64_t)request.ctime_ns,
	};
	n = store_find_code(store, &function, bytes, STORE_CODE_MAX_FUNCTION, &machine, &fault);
	if (n < 0) {
		error_reply(call, n, &fault);
		return 0;
	}
	if (n == 0) {
		error_reply_no_such_code(call);
		return 0;
	}
	return reply_bytes(call, bytes, (size_t)n, machine);
}
