/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of users, by the database of users of this machine.
 */
#pragma once

#include <stdint.h>

#define USER_NUMBER_MAX 11 /* with its end */

/* The text of user @uid; NULL where it is unknown, UINT32_MAX. It may be in @buffer. */
const char *user_number_format(char buffer[USER_NUMBER_MAX], uint32_t uid);

/* The name of the user with that text; NULL where this machine has none. The caller frees it. */
char *user_name_find(const char *number);
