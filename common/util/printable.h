/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text of strangers that is safe for terminals and JSON: UTF-8 without control characters. */
#pragma once

/* Replaces each byte of @text that is unsafe by a question mark. */
void printable_make(char *text);
