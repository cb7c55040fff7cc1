/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The opener's side of the connection: any requests, whole or not, about files in a folder of the
 * fuzzer's own. Paths may lead out of it, but only the file in it has the right inode, and no other
 * one may be handed over.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/macro.h"
#include "daemon/opener/messages.h"
#include "daemon/opener/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* What precedes the bytes of each message of an input. */
struct shape {
	uint8_t type;
	uint8_t flags;
	uint8_t high, low; /* the number of bytes */
};

enum flag {
	OTHER_FILE = 1,    /* inode and device are those of the input */
	NO_PROCESS = 2,    /* the process has ended */
	MAPPED_FILE = 4,   /* addresses of the own program */
	DESCRIPTOR = 8,    /* one comes with it */
	WRONG_LENGTH = 16, /* bytes are missing, as at an end of the connection */
};

struct request {
	struct opener_request head;
	char path[OPENER_MAX_BYTES + 64]; /* some are too long */
};

static char folder[] = "/tmp/fuzz-opener-XXXXXX", file[64], link_to_file[64], fifo[64];
static struct stat file_stat;
static void *mapped;

/* The opener's own alarm would take the place of libFuzzer's, which also ends what hangs. */
unsigned int alarm(unsigned int seconds)
{
	return 0;
}

static void clean_up(void)
{
	unlink(fifo);
	unlink(link_to_file);
	unlink(file);
	rmdir(folder);
}

static void expect(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd;

	signal(SIGPIPE, SIG_IGN);
	expect(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(link_to_file, sizeof(link_to_file), "%s/link", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	expect(fd >= 0 && write(fd, "content", 7) == 7 && fstat(fd, &file_stat) == 0);
	mapped = mmap(NULL, 7, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	expect(symlink(file, link_to_file) == 0 && mkfifo(fifo, 0600) == 0);
	atexit(clean_up);
	return 0;
}

static void set_file(struct opener_request *request, uint8_t flags)
{
	request->pid = flags & NO_PROCESS ? INT_MAX : getpid();
	if (flags & MAPPED_FILE) {
		request->start = (uintptr_t)mapped;
		request->end = (uintptr_t)mapped + (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (flags & OTHER_FILE && request->inode != file_stat.st_ino) {
		request->inode = 0; /* no file has it */
		return;
	}
	request->inode = file_stat.st_ino;
	request->major = major(file_stat.st_dev);
	request->minor = minor(file_stat.st_dev);
}

/* @n bytes of the input as a request, its path begun with the folder. Its length. */
static size_t make(struct request *ret, const uint8_t *data, size_t n, uint8_t flags)
{
	size_t n_path = 0, n_folder;

	memset(ret, 0, sizeof(*ret));
	memcpy(&ret->head, data, n < sizeof(ret->head) ? n : sizeof(ret->head));
	set_file(&ret->head, flags);
	if (n <= sizeof(ret->head))
		return n;
	n_folder = (size_t)snprintf(ret->path, sizeof(ret->path), "%s/", folder);
	n_path = n - sizeof(ret->head);
	memcpy(ret->path + n_folder, data + sizeof(ret->head), n_path);
	return sizeof(ret->head) + n_folder + n_path;
}

/* One message of the input: how many of its bytes it took. */
static size_t send_one(int to, const uint8_t *data, size_t size)
{
	struct channel_message message = {};
	static struct request request;
	struct shape shape;
	size_t n;

	memcpy(&shape, data, sizeof(shape));
	n = ((size_t)shape.high << 8 | shape.low) % OPENER_MAX_BYTES;
	n = n < size - sizeof(shape) ? n : size - sizeof(shape);
	message.type = shape.type;
	message.bytes = &request;
	message.n_bytes = make(&request, data + sizeof(shape), n, shape.flags);
	message.n_fds = shape.flags & DESCRIPTOR ? 1 : 0;
	message.fds[0] = to;
	if (shape.flags & WRONG_LENGTH)
		send(to, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	else
		channel_send(to, &message, channel_deadline(0));
	return sizeof(shape) + n;
}

static void check_answer(const struct channel_message *message)
{
	struct opener_reply reply;
	struct stat st;

	if (message->type == OPENER_READY)
		return;
	expect(message->type == OPENER_REPLY && message->n_bytes > sizeof(reply));
	memcpy(&reply, message->bytes, sizeof(reply));
	expect(reply.error <= 0 && message->n_fds == (reply.error == 0));
	if (reply.error < 0)
		return;
	expect(fstat(message->fds[0], &st) == 0 && S_ISREG(st.st_mode));
	/* a copy of mappings has no name */
	expect(st.st_nlink == 0 ||
	       (st.st_ino == file_stat.st_ino && st.st_dev == file_stat.st_dev));
}

static void *receive_all(void *userdata)
{
	struct channel_message message;

	while (channel_receive(*(int *)userdata, 2 * OPENER_MAX_BYTES, CHANNEL_NO_DEADLINE,
			       &message) >= 0) {
		check_answer(&message);
		channel_message_done(&message);
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pthread_t thread;
	int ends[2];

	if (size > 1 << 16)
		return 0;
	expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	while (size > sizeof(struct shape)) {
		size_t n = send_one(ends[0], data, size);

		data += n;
		size -= n;
	}
	shutdown(ends[0], SHUT_WR);
	expect(pthread_create(&thread, NULL, receive_all, &ends[0]) == 0);
	serve_requests(ends[1]);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	return 0;
}
