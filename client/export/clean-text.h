/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names for the files of other tools. Programs choose the names of their functions and processes,
 * so what could be taken for markup or for the end of a line is escaped.
 */
#pragma once

#include <stdio.h>

/* A heap copy as text_write() writes it: UTF-8 without control characters. Or NULL. */
char *clean_text(const char *text);

/* A string of JSON in quotes, safe within a script of HTML, too. Invalid bytes as in clean_text().
 */
void clean_text_json(FILE *f, const char *text);

/* Text of HTML or an attribute in quotes. */
void clean_text_html(FILE *f, const char *text);
