/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser's side of the connection, with a file of any bytes and any size up to 1 TiB: opened,
 * as its own debug file too, resolved, its lines, its code, its unwind table and the names of its
 * data read. The budget of CPU is libFuzzer's; large allocations fail, as they do under the
 * parser's RLIMIT_AS.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/parser/message.h"
#include "daemon/parser/budget.h"
#include "daemon/parser/requests.h"

#define OFFSETS 64
#define FILE_ID 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

int budget_init(int fd)
{
	return 0;
}

void budget_start(uint64_t cpu_us)
{
}

void budget_exclude(void (*work)(void))
{
	work();
}

uint64_t budget_stop(void)
{
	return 0;
}

/* The head of an input. */
struct shape {
	uint8_t size_shift; /* the file has at least that many bytes, as a power of two */
	uint8_t part_shift; /* where the second part of the content is */
	uint16_t split;     /* where that begins in the input */
	uint32_t step;      /* between the offsets asked for; the highest bit: names of a JIT */
};

static void put(int fd, const uint8_t *bytes, size_t n, off_t at)
{
	if (n && pwrite(fd, bytes, n, at) < 0)
		_exit(1);
}

static int make_file(const struct shape *shape, const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-parser", MFD_CLOEXEC);
	size_t split = shape->split < size ? shape->split : size;

	if (fd < 0)
		_exit(1);
	put(fd, data, split, 0);
	put(fd, data + split, size - split,
	    shape->part_shift ? (off_t)1 << (shape->part_shift % 40) : (off_t)split);
	if (shape->size_shift && lseek(fd, 0, SEEK_END) < (off_t)1 << (shape->size_shift % 41) &&
	    ftruncate(fd, (off_t)1 << (shape->size_shift % 41)) < 0)
		_exit(1);
	return fd;
}

static void ask(int to, uint32_t type, struct message_writer *writer, int fd)
{
	struct channel_message message = {
		.type = type,
		.bytes = writer->bytes,
		.n_bytes = writer->n,
		.n_fds = fd >= 0,
		.fds = { fd },
	};

	channel_send(to, &message, CHANNEL_NO_DEADLINE);
	message_writer_done(writer);
	*writer = (struct message_writer){};
}

static void ask_all(int to, const struct shape *shape, int fd)
{
	const struct message_open open = {
		.file = FILE_ID,
		.content = shape->step >> 31 ? CONTENT_JIT : CONTENT_ELF,
		.cpu_us = 1000000,
	};
	const struct message_debug debug = { .file = FILE_ID, .linked = shape->split & 1 };
	const struct message_resolve resolve = { .file = FILE_ID,
						 .n = OFFSETS,
						 .max_code_bytes = 1 << 20 };
	const struct message_lines lines = { .file = FILE_ID, .n = OFFSETS, .max_frames = 16 };
	const struct message_data data = { .file = FILE_ID, .n = OFFSETS };
	const struct message_code code = { .file = FILE_ID, .n = 4096, .offset = shape->step };
	const struct message_unwind unwind = { .file = FILE_ID, .cpu_us = 1000000 };
	const struct message_rest rest = { .cpu_us = 1000000 };
	const struct message_file close = { .file = FILE_ID };
	struct message_writer writer = {};
	uint64_t offsets[OFFSETS];

	for (size_t i = 0; i < OFFSETS; i++)
		offsets[i] = i * (shape->step & INT32_MAX);
	message_write(&writer, &open, sizeof(open));
	ask(to, PARSER_OPEN, &writer, fd);
	message_write(&writer, &debug, sizeof(debug));
	ask(to, PARSER_ADD_DEBUG, &writer, fd);
	message_write(&writer, &resolve, sizeof(resolve));
	message_write(&writer, offsets, sizeof(offsets));
	ask(to, PARSER_RESOLVE, &writer, -1);
	message_write(&writer, &lines, sizeof(lines));
	message_write(&writer, offsets, sizeof(offsets));
	ask(to, PARSER_LINES, &writer, -1);
	message_write(&writer, &data, sizeof(data));
	message_write(&writer, offsets, sizeof(offsets));
	ask(to, PARSER_DATA, &writer, -1);
	message_write(&writer, &rest, sizeof(rest));
	ask(to, PARSER_REST, &writer, -1);
	message_write(&writer, &code, sizeof(code));
	ask(to, PARSER_CODE, &writer, -1);
	message_write(&writer, &unwind, sizeof(unwind));
	ask(to, PARSER_UNWIND, &writer, -1);
	message_write(&writer, &close, sizeof(close));
	ask(to, PARSER_CLOSE, &writer, -1);
}

static void *drain(void *userdata)
{
	int fd = *(int *)userdata;
	char bytes[1 << 16];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shape shape;
	pthread_t thread;
	int ends[2], fd;

	if (size < sizeof(shape))
		return 0;
	memcpy(&shape, data, sizeof(shape));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		_exit(1);
	fd = make_file(&shape, data + sizeof(shape), size - sizeof(shape));
	ask_all(ends[0], &shape, fd);
	shutdown(ends[0], SHUT_WR);
	if (pthread_create(&thread, NULL, drain, &ends[0]))
		_exit(1);
	requests_serve(ends[1]);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(fd);
	return 0;
}
