/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Log messages: under systemd to the journal, with fields; else to stderr.
 */
#pragma once

#include <syslog.h>

#include "common/util/macro.h"

/* MESSAGE_ID of messages that a user may search for; see branchd(8). */
#define LOG_ID_SAMPLING      "b1a5c8f2d0374c6c9d5e6f0a7c3b2e41"
#define LOG_ID_NO_SAMPLING   "3e0d7a94c1f84b0fa2a65d8b9c47e160"
#define LOG_ID_NOT_STORED    "8c94e27b5a5d4f9e8f1c3d2b6a70e935"
#define LOG_ID_DATABASE      "d27f6b08e3c14a5db9407e1f82c5a36c"
#define LOG_ID_CONFIGURATION "4f61d9b3a8c24e7f95b0c2d7e6a1830f"
#define LOG_ID_TABLES        "57c1e0d9a64b4f3b8e2f90b71d3ca685"
#define LOG_ID_STUCK         "6a0e91c47db34f2c8d15b7f39c2e508d"
#define LOG_ID_RINGS_FULL    "e93b5d0a71c64f28b0f7a4d2c86e1f95"
#define LOG_ID_BUDGET        "0d7c52b86ef14a93a2c9e8f4613b70d5"
#define LOG_ID_THROTTLED     "56693d8fb09d4aabb3172c87f7263ff8"

/* Chooses between the journal and stderr. */
void log_open(void);

/*
 * A line of @priority (LOG_ERR and so on), without a newline. @id is one of the above or NULL;
 * @fields "KEY=value" strings up to a NULL, or NULL.
 */
void log_write(int priority, const char *id, const char *const *fields, const char *format, ...)
	_printf_(4, 5);

#define log_error(id, ...)   log_write(LOG_ERR, id, NULL, __VA_ARGS__)
#define log_warning(id, ...) log_write(LOG_WARNING, id, NULL, __VA_ARGS__)
#define log_info(id, ...)    log_write(LOG_INFO, id, NULL, __VA_ARGS__)
