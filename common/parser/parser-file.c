/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file keeps its descriptors, so that it can be opened again in a new process: its parser may
 * have died over another file, or been closed because others were needed more.
 */
#include "common/parser/parser-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/parser/answers.h"
#include "common/util/cleanup.h"

static int ask_to_open(struct parser_file *file, struct connection *connection,
		       struct parser_identity *ret, struct fault *why)
{
	const struct message_open m = {
		.file = file->number,
		.content = file->content,
		.cpu_us = file->parser->cpu_us,
	};
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct answer answer;
	int r;

	message_write(&request, &m, sizeof(m));
	r = parser_ask(file->parser, connection, PARSER_OPEN, &request, file->fd, &answer, why);
	if (r < 0)
		return r;
	return parser_end_answer(file->parser, &answer, answers_read_identity(&answer.reader, ret),
				 why);
}

static int ask_to_add_debug(struct parser_file *file, struct connection *connection, int fd,
			    bool linked, struct fault *why)
{
	const struct message_debug m = { .file = file->number, .linked = linked };
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct answer answer;
	int r;

	message_write(&request, &m, sizeof(m));
	r = parser_ask(file->parser, connection, PARSER_ADD_DEBUG, &request, fd, &answer, why);
	return r < 0 ? r : parser_end_answer(file->parser, &answer, 0, why);
}

/* Opens the file once more, in a new process. What it says about itself must be the same. */
static int open_again(struct parser_file *file, struct connection *connection, struct fault *why)
{
	struct parser_identity identity;
	bool same;
	int r;

	r = ask_to_open(file, connection, &identity, why);
	if (r < 0)
		return r;
	same = build_id_equal(&identity.build_id, file->identity.build_id.bytes,
			      file->identity.build_id.n) &&
	       identity.loads.n == file->identity.loads.n;
	answers_identity_done(&identity);
	if (!same)
		return -ESTALE;
	if (file->debug_fd >= 0)
		r = ask_to_add_debug(file, connection, file->debug_fd, file->linked, why);
	return r;
}

/* The connection that has the file open. */
static int reach(struct parser_file *file, struct connection **ret, struct fault *why)
{
	struct connection *connection;
	int r = connections_get(&file->parser->connections, file->owner, &connection, why);

	if (!r && file->generation != connection->generation) {
		file->generation = connection->generation;
		connection->n_files++;
		r = open_again(file, connection, why);
		if (r < 0)
			file->generation = 0;
	}
	if (!r)
		*ret = connection;
	return r;
}

static int fail(struct parser_file *file, int r, const struct fault *why)
{
	if (r == -ENOMEM || r == -ECONNREFUSED)
		return r;
	file->failed = true;
	if (r == -EOVERFLOW)
		fault_set(&file->failure, r, "needs too much memory");
	else if (r == -EREMOTEIO || r == -EOWNERDEAD)
		file->failure = *why;
	else
		fault_set(&file->failure, r, "changed while it was read");
	return -EREMOTEIO;
}

/*
 * Whether a failed call deserves another try. A process that has other files open as well may lack
 * memory because of them, so the file gets a process of its own; so it does where the process has
 * as many as it can have. One that was killed may have been killed by the administrator, so it gets
 * one more.
 */
static bool may_try_again(struct parser_file *file, int r, bool *killed)
{
	struct connection *connection;
	bool first = !*killed, alone;

	if (r == -EOWNERDEAD) {
		*killed = true;
		return first;
	}
	connection = connections_find(&file->parser->connections, file->owner);
	if ((r != -EOVERFLOW && r != -EMFILE) || !connection)
		return false;
	alone = connection->n_files == 1;
	if (r == -EMFILE)
		connections_close(connection);
	else
		connections_give_up(&file->parser->connections, connection);
	return !alone;
}

int parser_file_ask(struct parser_file *file, uint32_t type, const struct message_writer *request,
		    int fd, int refusal, struct answer *ret, struct fault *why)
{
	struct connection *connection;
	bool killed = false;
	int r;

	if (file->failed)
		return fault_set(why, -EREMOTEIO, "%s", file->failure.text);
	do {
		r = reach(file, &connection, why);
		if (!r)
			r = parser_ask(file->parser, connection, type, request, fd, ret, why);
		if (r == 0 || (r == refusal && r < 0))
			return r;
	} while (may_try_again(file, r, &killed));
	r = fail(file, r, why);
	return r == -EREMOTEIO ? fault_set(why, r, "%s", file->failure.text) : r;
}

int parser_file_end_answer(struct parser_file *file, struct answer *answer, int r,
			   struct fault *why)
{
	r = parser_end_answer(file->parser, answer, r, why);
	return r == -EREMOTEIO ? fail(file, r, why) : r;
}

/* Opens the file for the first time. */
static int open_first(struct parser_file *file, struct fault *why)
{
	struct connection *connection;
	bool killed = false;
	int r;

	do {
		r = connections_get(&file->parser->connections, file->owner, &connection, why);
		if (r < 0)
			return r;
		connection->n_files++;
		file->generation = connection->generation;
		r = ask_to_open(file, connection, &file->identity, why);
	} while (r < 0 && may_try_again(file, r, &killed));
	if (r == -EOVERFLOW)
		return fault_set(why, -EREMOTEIO, "needs too much memory");
	if (r == -EOWNERDEAD)
		return -EREMOTEIO;
	if (r == -ENOMEM || r == -EREMOTEIO)
		return r;
	if (r < 0)
		return fault_set(why, -ENOEXEC,
				 file->content == CONTENT_ELF ? "is not an ELF program or library" :
								"cannot be read");
	return r;
}

static int open_content(struct parser *parser, int fd, uint32_t owner, enum message_content content,
			struct parser_file **ret, struct fault *why)
{
	_cleanup_(parser_file_freep) struct parser_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	file->parser = parser;
	file->fd = fd;
	file->debug_fd = -1;
	file->owner = owner;
	file->content = content;
	file->number = ++parser->n_files;
	r = open_first(file, why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(file);
	return 0;
}

int parser_open(struct parser *parser, int fd, uint32_t owner, struct parser_file **ret,
		struct fault *why)
{
	return open_content(parser, fd, owner, CONTENT_ELF, ret, why);
}

int parser_open_jit(struct parser *parser, int fd, uint32_t owner, struct parser_file **ret,
		    struct fault *why)
{
	return open_content(parser, fd, owner, CONTENT_JIT, ret, why);
}

struct parser_file *parser_file_free(struct parser_file *file)
{
	struct message_file m = {};
	struct channel_message message = {
		.type = PARSER_CLOSE,
		.bytes = &m,
		.n_bytes = sizeof(m),
	};
	struct connection *connection;

	if (!file)
		return NULL;
	m.file = file->number;
	connection = connections_find(&file->parser->connections, file->owner);
	if (connection && connection->generation == file->generation)
		connections_tell(connection, &message);
	answers_identity_done(&file->identity);
	close(file->fd);
	if (file->debug_fd >= 0)
		close(file->debug_fd);
	free(file);
	return NULL;
}

const struct parser_identity *parser_file_identity(const struct parser_file *file)
{
	return &file->identity;
}

int parser_file_fd(const struct parser_file *file)
{
	return file->fd;
}

uint32_t parser_file_owner(const struct parser_file *file)
{
	return file->owner;
}

const char *parser_file_failure(const struct parser_file *file)
{
	return file->failed ? file->failure.text : NULL;
}

size_t parser_file_bytes(const struct parser_file *file)
{
	return file->bytes;
}

int parser_file_add_debug(struct parser_file *file, int debug_fd, bool linked, struct fault *why)
{
	const struct message_debug m = { .file = file->number, .linked = linked };
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct answer answer;
	int r;

	message_write(&request, &m, sizeof(m));
	r = file->debug_fd >= 0 ? -ESTALE :
				  parser_file_ask(file, PARSER_ADD_DEBUG, &request, debug_fd,
						  -ESTALE, &answer, why);
	if (r < 0) {
		close(debug_fd);
		return r;
	}
	file->debug_fd = debug_fd;
	file->linked = linked;
	return parser_file_end_answer(file, &answer, 0, why);
}
