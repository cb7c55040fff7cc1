/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Completion: what bash, zsh and fish offer for the last word of a command line. Their scripts ask
 * "branchctl __complete WORD...", so that they know each option that the table has.
 */
#pragma once

#define COMPLETE_COMMAND "__complete"

/*
 * Writes candidates for the last of @words, which follow "branchctl", to stdout, then a line that
 * says what the shell is to add: ":files", ":directories", ":nothing", or ":command N" if the words
 * behind the first N are a command of its own.
 */
void complete(int n_words, char *const *words);
