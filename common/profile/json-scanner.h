/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading JSON token by token where it lies, for texts whose tree would not fit in memory. What is
 * small goes to jansson whole. Every function returns 0 or a documented answer, or -EINVAL with the
 * fault saying what was wanted.
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
	const char *where; /* what is being read, for the fault; NULL: the top level */
	size_t row;        /* of that, or SIZE_MAX where it has none */
};

/* The fault, with where it is: what is being read, and @member of it unless that is NULL. */
int json_scanner_fail(const struct json_scanner *s, const char *member, const char *what);

/* 1 if the next token is @c, which is then passed over; else 0. */
int json_scan_if(struct json_scanner *s, char c);
int json_scan_token(struct json_scanner *s, char c);

/*
 * The name of the next member of an object with its colon, or the end of the object: 1 or 0. @first
 * is whether no member came before; the same holds for the elements of an array.
 */
int json_scan_member(struct json_scanner *s, bool first, char ret_name[JSON_NAME_MAX]);
int json_scan_element(struct json_scanner *s, bool first);

/* A whole number from 0 to 2^64 - 1; those of 2^63 and more in quotes. */
int json_scan_count(struct json_scanner *s, const char *member, uint64_t *ret);
/* "0x...": up to 16 digits. */
int json_scan_hex(struct json_scanner *s, const char *member, uint64_t *ret);
/* null: 1, or else 0. */
int json_scan_null(struct json_scanner *s);
/* Any object; also -ENOMEM. */
int json_scan_object(struct json_scanner *s, json_t **ret);
/* Only white space is left. */
int json_scan_end(struct json_scanner *s);

/* The same numbers in a string's text: the whole of it. False if it is none. */
bool json_parse_big_count(const char *text, uint64_t *ret);
bool json_parse_hex(const char *text, uint64_t *ret);
