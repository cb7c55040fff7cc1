/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that a parser has open, by the numbers that the client gave them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/elf/file.h"
#include "common/elf/lines.h"
#include "common/parser/message.h"

struct file {
	uint32_t number; /* 0: none */
	int fd, debug_fd;
	uint16_t machine;
	struct elf_file *elf; /* has its image until the symbols were read */
	bool has_symtab, has_dwarf;
	bool lines_sought;
	struct lines *lines;  /* NULL if there are none */
	uint64_t cpu_us;      /* left */
	uint64_t n_malformed; /* lines of CONTENT_JIT */
};

struct files {
	struct file *rows;
	size_t n, cap;
};

void files_done(struct files *files);

/* NULL if there is none. */
struct file *files_find(struct files *files, uint32_t number);

/* Opens a file. Takes @fd in any case. 0, -EMFILE, -ENOEXEC, -ENOMEM. */
int files_open(struct files *files, const struct message_open *request, int fd, struct file **ret);
void files_close(struct files *files, uint32_t number);

/* Each file may take @cpu_us from now on. */
void files_renew_budgets(struct files *files, uint64_t cpu_us);

/*
 * Takes @fd in any case as the debug file of @file. 0; -ESTALE if it does not belong to it; or
 * -ENOMEM.
 */
int files_add_debug(struct file *file, int fd, bool linked);

/* Reads the symbols, once. 0 or -ENOMEM. */
int files_read_symbols(struct file *file);

/* Opens the source lines, once. 0, with or without lines; or -ENOMEM. */
int files_seek_lines(struct file *file);
