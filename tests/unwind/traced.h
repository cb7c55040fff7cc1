/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stopped process that is traced: its registers, its stack, its code with unwind tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/unwind/walk.h"

#define TRACED_STACK_MAX (8u << 20)

struct traced_object {
	char *path; /* "[vdso]" as well */
	struct unwind_table table;
};

struct traced_mapping {
	uint64_t start, end, offset;
	bool executable, stack;
	struct traced_object *object; /* NULL: of no ELF file */
	const uint8_t *code;          /* the bytes of the mapping, or NULL */
	size_t n_code;
	char path[256];
};

struct traced {
	pid_t pid;
	struct traced_object *objects[256];
	size_t n_objects;
	struct traced_mapping *mappings;
	size_t n_mappings;
	uint8_t *stack;
	bool missed; /* an address was in no mapping: they are to be read again */
};

void traced_init(struct traced *traced, pid_t pid);
void traced_done(struct traced *traced);

/* Reads the mappings, and the tables of new objects. */
void traced_read_mappings(struct traced *traced);

const struct traced_mapping *traced_find(const struct traced *traced, uint64_t address);

/* Reads the memory of the process: the bytes read. */
size_t traced_read(const struct traced *traced, uint64_t address, void *ret, size_t n);

void traced_registers(const struct traced *traced, struct unwind_registers *ret);

/* Reads the registers, and at most @max_stack bytes from the stack pointer on, and walks. The bytes
 * are in traced->stack, and *@input is what was walked. */
void traced_walk(struct traced *traced, size_t max_stack, struct unwind_input *input,
		 struct unwind_frame *frames, size_t max_frames, struct unwind_result *ret);

/* Where an address is, for messages: "libc.so.6+0x1234"; valid until the next four calls. */
const char *traced_name(const struct traced *traced, uint64_t address);

/* Starts a program that is traced, stopped at its first instruction. */
pid_t traced_start(char *const argv[]);
