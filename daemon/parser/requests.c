/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/channel/channel.h"
#include "common/elf/demangle.h"
#include "common/parser/message.h"
#include "common/util/cleanup.h"
#include "daemon/parser/budget.h"
#include "daemon/parser/bytes.h"
#include "daemon/parser/data.h"
#include "daemon/parser/files.h"
#include "daemon/parser/functions.h"
#include "daemon/parser/idle-memory.h"
#include "daemon/parser/instructions.h"
#include "daemon/parser/source-lines.h"
#include "daemon/parser/unwind.h"

struct server {
	int fd;
	struct files files;
};

/* A request while it is answered. */
struct request {
	struct channel_message message;
	struct message_reader reader;
	struct message_writer answer;
};

static void write_loads(struct message_writer *answer, const struct loads *loads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct load *l = &loads->rows[i];
		const struct message_load m = {
			.offset = l->offset,
			.address = l->address,
			.size = l->size,
			.memory_size = l->memory_size,
			.executable = l->executable,
		};

		message_write(answer, &m, sizeof(m));
	}
}

static void write_identity(struct message_writer *answer, const struct file *file)
{
	const struct elf_file *elf = file->elf;
	size_t n_link = elf->debuglink ? strlen(elf->debuglink) + 1 : 0;
	struct message_identity m = {
		.machine = file->machine,
		.n_build_id = elf->build_id.n,
		.has_symtab = file->has_symtab,
		.has_dwarf = file->has_dwarf,
		.debuglink_crc = elf->debuglink_crc,
		.n_loads = (uint32_t)MIN(elf->loads.n, (size_t)MESSAGE_LOADS),
		.n_debuglink = n_link <= MESSAGE_LINK ? (uint32_t)n_link : 0,
		.n_malformed = file->n_malformed,
	};

	memcpy(m.build_id, elf->build_id.bytes, elf->build_id.n);
	message_write(answer, &m, sizeof(m));
	write_loads(answer, &elf->loads, m.n_loads);
	message_write(answer, elf->debuglink, m.n_debuglink);
}

static int answer_open(struct server *server, struct request *request)
{
	const struct message_open *m = message_read(&request->reader, 1, sizeof(*m));
	struct file *file;
	int r;

	if (!m)
		return -EINVAL;
	budget_start(m->cpu_us);
	r = files_open(&server->files, m, channel_message_take_fd(&request->message, 0), &file);
	if (r < 0) {
		budget_stop();
		return r;
	}
	write_identity(&request->answer, file);
	file->cpu_us = budget_stop();
	return 0;
}

static int answer_add_debug(struct server *server, struct request *request)
{
	const struct message_debug *m = message_read(&request->reader, 1, sizeof(*m));
	struct file *file = m && m->file ? files_find(&server->files, m->file) : NULL;
	int r;

	if (!file || !request->message.n_fds)
		return -EINVAL;
	budget_start(file->cpu_us);
	r = files_add_debug(file, channel_message_take_fd(&request->message, 0), m->linked);
	file->cpu_us = budget_stop();
	return r;
}

/* The @n offsets that follow, and their file. NULL if there is no such file, or too few. */
static const uint64_t *read_offsets(struct server *server, struct request *request, uint32_t number,
				    size_t n, struct file **ret_file)
{
	*ret_file = number ? files_find(&server->files, number) : NULL;
	return *ret_file ? message_read(&request->reader, n, 8) : NULL;
}

static int answer_resolve(struct server *server, struct request *request)
{
	const struct message_resolve *m = message_read(&request->reader, 1, sizeof(*m));
	const uint64_t *offsets;
	struct file *file;
	int r;

	if (!m)
		return -EINVAL;
	offsets = read_offsets(server, request, m->file, m->n, &file);
	if (!offsets)
		return -EINVAL;
	budget_start(file->cpu_us);
	/* the message is ours, so the offsets are sorted in it */
	r = functions_write(file, (uint64_t *)offsets, m->n, m->max_code_bytes, &request->answer);
	file->cpu_us = budget_stop();
	return r;
}

static int answer_lines(struct server *server, struct request *request)
{
	const struct message_lines *m = message_read(&request->reader, 1, sizeof(*m));
	const uint64_t *offsets;
	struct file *file;
	int r;

	if (!m)
		return -EINVAL;
	offsets = read_offsets(server, request, m->file, m->n, &file);
	if (!offsets)
		return -EINVAL;
	budget_start(file->cpu_us);
	r = source_lines_write(file, offsets, m->n, m->max_frames, &request->answer);
	file->cpu_us = budget_stop();
	return r;
}

static int answer_data(struct server *server, struct request *request)
{
	const struct message_data *m = message_read(&request->reader, 1, sizeof(*m));
	struct file *file = m && m->file ? files_find(&server->files, m->file) : NULL;
	const uint64_t *addresses = file ? message_read(&request->reader, m->n, 8) : NULL;
	int r;

	if (!addresses)
		return -EINVAL;
	budget_start(file->cpu_us);
	r = data_write(file, addresses, m->n, &request->answer);
	file->cpu_us = budget_stop();
	return r;
}

static int answer_code(struct server *server, struct request *request)
{
	const struct message_code *m = message_read(&request->reader, 1, sizeof(*m));
	struct file *file = m && m->file ? files_find(&server->files, m->file) : NULL;
	_cleanup_free_ void *bytes = NULL;
	struct message_names head = {};

	if (!file || m->n > MESSAGE_CODE)
		return -EINVAL;
	bytes = malloc(m->n ?: 1);
	if (!bytes)
		return -ENOMEM;
	budget_start(file->cpu_us);
	if (loads_have_code(&file->elf->loads))
		head.n = (uint32_t)bytes_read(file->fd, m->offset, bytes, m->n);
	file->cpu_us = budget_stop();
	message_write(&request->answer, &head, sizeof(head));
	message_write(&request->answer, bytes, head.n);
	return 0;
}

static int answer_unwind(struct server *server, struct request *request)
{
	const struct message_unwind *m = message_read(&request->reader, 1, sizeof(*m));
	struct file *file = m && m->file ? files_find(&server->files, m->file) : NULL;
	int r;

	if (!file)
		return -EINVAL;
	budget_start(m->cpu_us);
	r = unwind_write(file, &request->answer);
	budget_stop();
	return r;
}

static int answer_disassemble(struct request *request)
{
	const struct message_disassemble *m = message_read(&request->reader, 1, sizeof(*m));
	const struct message_piece *pieces;
	int r;

	pieces = m ? message_read(&request->reader, m->n_pieces, sizeof(*pieces)) : NULL;
	if (!pieces)
		return -EINVAL;
	budget_start(m->cpu_us);
	r = instructions_write(m, pieces, request->reader.bytes, request->reader.n,
			       &request->answer);
	budget_stop();
	return r;
}

static int demangle_all(const char *text, size_t n, uint32_t n_names, struct message_text *ret)
{
	int r = 0;

	for (uint32_t i = 0; i < n_names && !r; i++) {
		size_t n_name = strnlen(text, n);
		_cleanup_free_ char *name = NULL;
		uint32_t at;

		if (n_name == n)
			return -EINVAL;
		r = demangle(&name, text, n_name, "");
		if (!r)
			r = message_text_add(ret, name, &at);
		text += n_name + 1;
		n -= n_name + 1;
	}
	return r;
}

static int answer_demangle(struct request *request)
{
	const struct message_names *m = message_read(&request->reader, 1, sizeof(*m));
	const char *names = m ? message_read(&request->reader, m->n_text, 1) : NULL;
	struct message_names head = { .n = m ? m->n : 0 };
	struct message_text text = {};
	int r;

	if (!names)
		return -EINVAL;
	budget_start(m->cpu_us);
	r = demangle_all(names, m->n_text, m->n, &text);
	budget_stop();
	head.n_text = (uint32_t)text.n;
	message_write(&request->answer, &head, sizeof(head));
	message_write(&request->answer, text.text, text.n);
	free(text.text);
	return r;
}

static int answer(struct server *server, struct request *request)
{
	switch (request->message.type) {
	case PARSER_OPEN:
		return answer_open(server, request);
	case PARSER_ADD_DEBUG:
		return answer_add_debug(server, request);
	case PARSER_RESOLVE:
		return answer_resolve(server, request);
	case PARSER_LINES:
		return answer_lines(server, request);
	case PARSER_DATA:
		return answer_data(server, request);
	case PARSER_CODE:
		return answer_code(server, request);
	case PARSER_DISASSEMBLE:
		return answer_disassemble(request);
	case PARSER_UNWIND:
		return answer_unwind(server, request);
	case PARSER_DEMANGLE:
		return answer_demangle(request);
	default:
		return -EINVAL;
	}
}

/* Sends the answer; a failed one is its head alone. */
static int send_answer(struct server *server, struct request *request, int r)
{
	struct message_answer head = { .result = r < 0 ? r : request->answer.r };
	struct channel_message message = { .type = request->message.type };

	if (head.result < 0) {
		message.bytes = &head;
		message.n_bytes = sizeof(head);
	} else {
		message.bytes = request->answer.bytes;
		message.n_bytes = request->answer.n;
	}
	return channel_send(server->fd, &message, CHANNEL_NO_DEADLINE);
}

/* Whether it is a request that has no answer; it is done. */
static bool is_told(struct server *server, struct request *request)
{
	const struct message_file *close;
	const struct message_rest *rest;

	switch (request->message.type) {
	case PARSER_CLOSE:
		close = message_read(&request->reader, 1, sizeof(*close));
		files_close(&server->files, close ? close->file : 0);
		return true;
	case PARSER_REST:
		rest = message_read(&request->reader, 1, sizeof(*rest));
		if (rest && rest->cpu_us > 0)
			files_renew_budgets(&server->files, rest->cpu_us);
		budget_exclude(idle_memory_release);
		return true;
	default:
		return false;
	}
}

static int serve_one(struct server *server)
{
	const struct message_answer head = {};
	struct request request = {};
	int r;

	r = channel_receive(server->fd, MESSAGE_MAX, CHANNEL_NO_DEADLINE, &request.message);
	if (r < 0)
		return r;
	request.reader = (struct message_reader){ request.message.bytes, request.message.n_bytes };
	if (!is_told(server, &request)) {
		message_write(&request.answer, &head, sizeof(head));
		r = answer(server, &request);
		r = send_answer(server, &request, r);
	}
	message_writer_done(&request.answer);
	channel_message_done(&request.message);
	return r;
}

int requests_serve(int fd)
{
	const struct channel_message hello = { .type = PARSER_HELLO };
	struct server server = { .fd = fd };
	int r = channel_send(fd, &hello, CHANNEL_NO_DEADLINE);

	while (r >= 0)
		r = serve_one(&server);
	files_done(&server.files);
	return r == -EPIPE ? 0 : r;
}
