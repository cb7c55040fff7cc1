/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/user-name.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096 /* of a user's line in the database */

const char *user_number_format(char buffer[USER_NUMBER_MAX], uint32_t uid)
{
	if (uid == UINT32_MAX)
		return NULL;
	snprintf(buffer, USER_NUMBER_MAX, "%" PRIu32, uid);
	return buffer;
}

char *user_name_find(const char *number)
{
	struct passwd user, *found = NULL;
	char text[TEXT_MAX];

	if (getpwuid_r((uid_t)strtoul(number, NULL, 10), &user, text, sizeof(text), &found) != 0 ||
	    !found)
		return NULL;
	return strdup(found->pw_name);
}
