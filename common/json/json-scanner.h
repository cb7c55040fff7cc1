/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads JSON token by token from a text in memory, without building a tree, which would not fit in
 * memory. Small objects go to jansson as a whole. Every function returns 0 or a documented answer,
 * or -EINVAL with a fault that says what was expected.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"

#define JSON_NAME_MAX 32

struct json_scanner {
	const char *text;
	size_t n_bytes, at;
	struct fault *fault;
	const char *where; /* the part being read, for the fault; NULL: the top level */
	size_t row;        /* of that part; SIZE_MAX: none */
};

/* Sets the fault, with the part being read and its @member (or NULL). -EINVAL. */
int json_scanner_fail(const struct json_scanner *s, const char *member, const char *what);

/* The next token must be @c. */
int json_scan_token(struct json_scanner *s, char c);

/*
 * Reads the name of the next member of an object and the colon: 1; or the end of the object: 0.
 * @first: no member came before. json_scan_element() does the same for an array.
 */
int json_scan_member(struct json_scanner *s, bool first, char ret_name[JSON_NAME_MAX]);
int json_scan_element(struct json_scanner *s, bool first);

/* A whole number from 0 to 2^64 - 1. From 2^63 on it is in quotes. */
int json_scan_count(struct json_scanner *s, const char *member, uint64_t *ret);
/* "0x...": up to 16 digits. */
int json_scan_hex(struct json_scanner *s, const char *member, uint64_t *ret);
/* Skips a null: 1 or 0. */
int json_scan_null(struct json_scanner *s);
/* Any object. Also -ENOMEM. */
int json_scan_object(struct json_scanner *s, json_t **ret);
/* Only white space may be left. */
int json_scan_end(struct json_scanner *s);

/* Parse the whole text of a string as such a number. False if it is none. */
bool json_parse_big_count(const char *text, uint64_t *ret);
bool json_parse_hex(const char *text, uint64_t *ret);
