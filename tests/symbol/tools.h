/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What binutils say of a file: the truth that the symbolizer's tests compare with. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/macro.h"

/* The output of a shell command, for fclose(); fails the test where it cannot be run. */
FILE *tools_output(const char *format, ...) _printf_(1, 2);

/* Runs it and fails the test if it fails. */
void tools_run(const char *format, ...) _printf_(1, 2);

/* True if a program of that name is in the path. */
bool tools_have(const char *program);

struct tools_load {
	uint64_t offset, address, size;
};

/* The PT_LOAD headers by readelf, at most @n; their number. */
size_t tools_loads(const char *file, struct tools_load *ret, size_t n);

/* The file offset of an address by these headers; UINT64_MAX where there is none. */
uint64_t tools_offset(const struct tools_load *loads, size_t n, uint64_t address);

struct tools_symbol {
	uint64_t address, size;
	char type; /* as nm has it */
	char name[1024];
};

/* Functions by nm (of .dynsym if @dynamic), sorted by address; *@ret is to be freed. */
size_t tools_symbols(const char *file, bool dynamic, struct tools_symbol **ret);

/* Reads a build-id as hexadecimal digits into @ret; the number of bytes. */
size_t tools_build_id(const char *file, uint8_t ret[static 20]);
