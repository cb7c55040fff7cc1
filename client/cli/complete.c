/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/complete.h"

#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/complete-values.h"
#include "client/cli/completion.h"
#include "client/cli/options/table.h"
#include "client/export/export.h"
#include "client/rpc/connection.h"
#include "client/top/top-order.h"
#include "client/view/view.h"
#include "common/profile/branch-kind.h"
#include "common/util/macro.h"

/* Who presses Tab does not wait longer. */
#define MAX_SECONDS 3

/* The line up to its last word. */
struct line {
	int command; /* N_COMMANDS: none yet */
	bool help;   /* "help COMMAND" */
	bool unknown;
	bool deletes;
	bool of_cluster;
	int n_before;                     /* words up to "--", with it; 0: there is none */
	int n_operands;                   /* after the command */
	const struct option_spec *wanted; /* whose argument the last word is */
	const char *socket;
	enum view_by by;
};

static const struct option_spec *find_long(const char *name, size_t length)
{
	for (size_t i = 0; i < n_option_specs; i++) {
		const char *known = option_specs[i].name;

		if (known && *known && strlen(known) == length && strncmp(known, name, length) == 0)
			return &option_specs[i];
	}
	return NULL;
}

/* The option of @word, and *@ret_argument: what follows it in the word, or NULL. */
static const struct option_spec *find_option(const char *word, const char **ret_argument)
{
	unsigned int commands;
	size_t length = strcspn(word, "=");

	*ret_argument = NULL;
	if (strncmp(word, "--", 2) == 0) {
		*ret_argument = word[length] == '=' ? word + length + 1 : NULL;
		return find_long(word + 2, length - 2);
	}
	if (word[0] != '-' || word[1] == '\0')
		return NULL;
	*ret_argument = word[2] ? word + 2 : NULL;
	return option_find(word[1], &commands);
}

static bool needs_argument(const struct option_spec *option)
{
	return option->argument && *option->argument != '[';
}

static void take_argument(struct line *line, int key, const char *argument)
{
	if (key == KEY_SOCKET)
		line->socket = argument;
	if (key == KEY_HOST || key == KEY_HOST_LIST)
		line->socket = ""; /* asking another machine would take too long */
	if (key == KEY_BY)
		(void)view_parse(&line->by, argument);
}

static void take_operand(struct line *line, const char *word)
{
	if (line->command < N_COMMANDS) {
		line->n_operands++;
		return;
	}
	if (strcmp(word, "help") == 0 && !line->help) {
		line->help = true;
		return;
	}
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(word, command_specs[i].name) == 0)
			line->command = i;
	line->unknown = line->command == N_COMMANDS;
}

static void take_word(struct line *line, const char *word, int i)
{
	const struct option_spec *option;
	const char *argument;

	if (line->wanted) {
		take_argument(line, line->wanted->key, word);
		line->wanted = NULL;
		return;
	}
	if (line->n_before > 0)
		return;
	if (strcmp(word, "--") == 0) {
		line->n_before = i + 1;
		return;
	}
	option = find_option(word, &argument);
	if (!option) {
		take_operand(line, word);
		return;
	}
	line->deletes |= option->key == KEY_DELETE;
	line->of_cluster |= option->key == KEY_CLUSTER;
	if (argument)
		take_argument(line, option->key, argument);
	else if (needs_argument(option))
		line->wanted = option;
}

static unsigned int mask_of(const struct line *line)
{
	return line->command < N_COMMANDS ? 1u << line->command : OPTIONS_ALL_COMMANDS;
}

static void add_options(const struct line *line, struct completion *completion)
{
	char name[64];

	for (size_t i = 0; i < n_option_specs; i++) {
		const struct option_spec *option = &option_specs[i];
		bool is_short = option->name && !*option->name;
		unsigned int first;

		if (!option->name || !(option->commands & mask_of(line)))
			continue;
		if (line->command == N_COMMANDS && option_find(option->key, &first) != option)
			continue; /* its help depends on the command */
		snprintf(name, sizeof(name), "%s%s", is_short ? "-" : "--", option_name(option));
		completion_add(completion, name, option->help);
	}
}

static void add_commands(const struct line *line, struct completion *completion)
{
	for (int i = 0; i < N_COMMANDS; i++)
		completion_add(completion, command_specs[i].name, command_specs[i].help);
	if (!line->help)
		completion_add(completion, "help", "Describes a command");
}

static void add_words(struct completion *completion, const char *const *words)
{
	for (; *words; words++)
		completion_add(completion, *words, NULL);
}

static void add_views(const struct line *line, struct completion *completion)
{
	for (int by = 0; by < N_VIEWS; by++)
		if ((by != VIEW_HOST || line->of_cluster) &&
		    (line->command != COMMAND_DIFF || (by != VIEW_STACK && by != VIEW_BRANCH &&
						       by != VIEW_BRANCH_SITE && by != VIEW_HOST)))
			completion_add(completion, view_name((enum view_by)by), NULL);
}

static void add_sorts(const struct line *line, struct completion *completion)
{
	for (size_t i = 0; i < top_n_orders(line->by); i++)
		completion_add(completion, top_order_word(line->by, i), NULL);
}

static void add_branch_kinds(struct completion *completion)
{
	for (int kind = BRANCH_UNKNOWN + 1; kind < N_BRANCH_KINDS; kind++)
		completion_add(completion, branch_kind_name((enum branch_kind)kind), NULL);
	add_words(completion, (const char *const[]){ "any_call", "any_ret", NULL });
}

static void add_formats(const struct line *line, struct completion *completion)
{
	static const char *const of_dump[] = { "text", "json", NULL };
	static const char *const of_flame[] = { "html", "svg", NULL };
	static const char *const of_metrics[] = { "openmetrics", "prometheus", NULL };

	if (line->command == COMMAND_DUMP)
		add_words(completion, of_dump);
	else if (line->command == COMMAND_FLAME)
		add_words(completion, of_flame);
	else if (line->command == COMMAND_METRICS)
		add_words(completion, of_metrics);
	else
		for (size_t i = 0; i < n_export_formats; i++)
			completion_add(completion, export_formats[i].name, export_formats[i].what);
}

static void add_users(struct completion *completion)
{
	const struct passwd *user;

	setpwent();
	for (size_t i = 0; i < COMPLETION_MAX && (user = getpwent()); i++)
		completion_add(completion, user->pw_name, NULL);
	endpwent();
}

static void add_times(struct completion *completion)
{
	add_words(completion, (const char *const[]){ "-5min", "-1h", "today", "yesterday", NULL });
}

/* Recordings are files, which the shell adds. Of "A..B" the first stays. */
static void add_windows(const struct line *line, struct completion *completion)
{
	const char *dots = strstr(completion->begun, "..");

	if (dots)
		completion_begin(completion, completion->kept,
				 (size_t)(dots + 2 - completion->kept), false);
	completion_add(completion, "@0", "the open window");
	completion_add(completion, "@-1", "the last closed window");
	complete_windows(completion, line->socket);
	add_times(completion);
}

static bool is_list(const struct line *line, int key)
{
	switch (key) {
	case KEY_PID:
	case KEY_COMM:
	case KEY_EXCLUDE_COMM:
	case KEY_UNIT:
	case KEY_CONTAINER:
	case KEY_UID:
	case KEY_OBJECT:
	case KEY_SYMBOL:
	case KEY_BRANCH_KIND:
		return true;
	}
	return key == KEY_BY && line->command == COMMAND_DIFF;
}

/* Arguments that are words; what the shell is to add. */
static const char *add_word_argument(const struct line *line, int key,
				     struct completion *completion)
{
	switch (key) {
	case KEY_BY:
		add_views(line, completion);
		break;
	case KEY_SORT:
		add_sorts(line, completion);
		break;
	case KEY_TREE:
		add_words(completion, (const char *const[]){ "caller", "callee", NULL });
		break;
	case KEY_DEPTH:
		add_words(completion, (const char *const[]){ "full", NULL });
		break;
	case KEY_BRANCH_KIND:
		add_branch_kinds(completion);
		break;
	case KEY_LEVEL:
		add_words(completion, (const char *const[]){ "user", "kernel", NULL });
		break;
	case KEY_FORMAT:
		add_formats(line, completion);
		break;
	case KEY_COLOR:
		add_words(completion, (const char *const[]){ "auto", "always", "never", NULL });
		break;
	case KEY_SINCE:
	case KEY_UNTIL:
		add_times(completion);
		break;
	case KEY_BEFORE:
	case KEY_AFTER:
	case KEY_SYMFS:
	case KEY_DEBUG_DIR:
		return ":directories";
	case KEY_OUTPUT:
	case KEY_KALLSYMS:
	case KEY_HOST_LIST:
	case KEY_SOCKET:
		return ":files";
	}
	return ":nothing";
}

static const char *add_argument(const struct line *line, int key, struct completion *completion)
{
	static const struct {
		int key;
		enum view_by by;
	} values[] = {
		{ KEY_PID, VIEW_PROCESS },           { KEY_COMM, VIEW_COMM },
		{ KEY_EXCLUDE_COMM, VIEW_COMM },     { KEY_UNIT, VIEW_UNIT },
		{ KEY_CONTAINER, VIEW_CONTAINER },   { KEY_OBJECT, VIEW_OBJECT },
		{ KEY_CHANGED_FUNC, VIEW_FUNCTION }, { KEY_SYMBOL, VIEW_FUNCTION },
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].key == key) {
			complete_values_of(completion, values[i].by, line->socket);
			return ":nothing";
		}
	if (key == KEY_UID)
		add_users(completion);
	if (key != KEY_DIFF)
		return add_word_argument(line, key, completion);
	add_windows(line, completion);
	return ":files";
}

static const char *add_operands(const struct line *line, struct completion *completion)
{
	const struct command_spec *spec = &command_specs[line->command];

	if (line->n_operands >= spec->max_operands)
		return ":nothing";
	if (line->command == COMMAND_MARK && line->n_operands == 0) {
		if (line->deletes)
			complete_marks(completion, line->socket);
		return ":nothing";
	}
	if (line->n_operands == 0 &&
	    (line->command == COMMAND_ANNOTATE || line->command == COMMAND_HISTORY))
		complete_values_of(completion, VIEW_FUNCTION, line->socket);
	add_windows(line, completion);
	return line->command == COMMAND_HISTORY || line->command == COMMAND_MARK ? ":nothing" :
										   ":files";
}

static const char *complete_word(const struct line *line, const char *word,
				 struct completion *completion)
{
	const struct option_spec *option;
	const char *argument;
	size_t n_kept = 0;

	option = line->wanted ?: find_option(word, &argument);
	if (!line->wanted && option && argument)
		n_kept = (size_t)(argument - word);
	completion_begin(completion, word, n_kept, option && is_list(line, option->key));
	if (line->wanted || n_kept > 0)
		return add_argument(line, option->key, completion);
	if (line->unknown)
		return ":nothing";
	if (*word == '-') {
		completion_begin(completion, word, 0, false);
		add_options(line, completion);
		return ":nothing";
	}
	if (line->command == N_COMMANDS) {
		add_commands(line, completion);
		return ":nothing";
	}
	return line->help ? ":nothing" : add_operands(line, completion);
}

/* Without a word of the shell's on how it ended. */
static void on_alarm(int number)
{
	(void)number;
	_exit(1);
}

void complete(int n_words, char *const *words)
{
	struct line line = { .command = N_COMMANDS, .socket = CONNECTION_DEFAULT_PATH };
	struct completion completion = { .f = stdout };
	const char *last = n_words > 0 ? words[n_words - 1] : "";

	signal(SIGALRM, on_alarm);
	alarm(MAX_SECONDS);
	for (int i = 0; i + 1 < n_words; i++)
		take_word(&line, words[i], i);
	if (line.n_before == 0)
		puts(complete_word(&line, last, &completion));
	else if (line.command == COMMAND_RUN)
		printf(":command %d\n", line.n_before);
	else
		puts(":files");
}
