/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that became hotter or colder, and when, as a table and as JSON. */
#pragma once

#include <stdio.h>

#include "client/history/search.h"
#include "client/term/output.h"

/* 0 or -ENOMEM. */
int search_write_table(const struct history_search *search, uint64_t now_us, struct output *output);
int search_write_json(const struct history_search *search, FILE *f);
