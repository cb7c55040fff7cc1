/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd's launcher starts the attacked parser in the place of branchd-parser: test-launcher
 * ATTACKED-PARSER. Started by root, it is another user's process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>

#include "daemon/launcher/launcher.h"
#include "tests/attacked/trial.h"

static char *program;

/* What /proc says of a process. */
struct status {
	int parent, uids[4], no_new_privileges, seccomp;
	unsigned long capabilities;
};

static bool read_status(int pid, struct status *ret)
{
	struct status s = {};
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "PPid: %d", &s.parent);
		sscanf(line, "Uid: %d %d %d %d", &s.uids[0], &s.uids[1], &s.uids[2], &s.uids[3]);
		sscanf(line, "NoNewPrivs: %d", &s.no_new_privileges);
		sscanf(line, "Seccomp: %d", &s.seccomp);
		sscanf(line, "CapPrm: %lx", &s.capabilities);
	}
	fclose(file);
	*ret = s;
	return true;
}

/* The process that a child of ours has started, if it is the only one. */
static struct status find_grandchild(void)
{
	struct status all = {}, s, parent;
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while ((entry = readdir(directory))) {
		int pid = atoi(entry->d_name);

		if (!pid || !read_status(pid, &s) || !read_status(s.parent, &parent) ||
		    parent.parent != getpid())
			continue;
		all = s;
		n++;
	}
	closedir(directory);
	assert_int_equal(n, 1);
	return all;
}

static int connect_by_launcher(uint32_t owner, void *userdata)
{
	return launcher_request(*(int *)userdata, HELPER_PARSER);
}

static int ask(struct parser *parser, const char *magic, char *ret_name, size_t n, bool alone)
{
	struct parser_file *file;
	struct fault why = {};
	int r;

	assert_int_equal(parser_open(parser, magic_file_make(magic, O_RDONLY), OWNER_OF_ATTACKER,
				     &file, &why),
			 0);
	if (alone) {
		struct status s = find_grandchild();

		for (size_t i = 0; i < ARRAY_SIZE(s.uids); i++)
			if (geteuid() == 0)
				assert_int_not_equal(s.uids[i], 0);
		assert_int_equal(s.no_new_privileges, 1);
		assert_int_equal(s.seccomp, 2);
		assert_int_equal(s.capabilities, 0);
	}
	r = trial_name(file, ret_name, n, &why);
	parser_file_free(file);
	return r;
}

static void test_a_parser_of_the_launcher_is_contained(void **state)
{
	char directory[] = "/tmp/attacked-XXXXXX", path[64], magic[128], name[64] = "";
	struct parser_settings settings = { .connect = connect_by_launcher };
	struct parser *parser;
	int launcher;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(chmod(directory, 0755), 0);
	snprintf(path, sizeof(path), "%s/branchd-parser", directory);
	assert_int_equal(symlink(program, path), 0);
	setenv("BRANCHD_LIBEXEC", directory, 1);
	launcher = launcher_start();
	assert_true(launcher >= 0);
	settings.userdata = &launcher;
	assert_int_equal(parser_new(&parser, &settings), 0);

	assert_int_equal(ask(parser, "attack:open:/etc/shadow", name, sizeof(name), true), 0);
	assert_string_equal(name, "refused 13"); /* EACCES */
	snprintf(magic, sizeof(magic), "attack:execve:%s/marker", directory);
	assert_int_equal(ask(parser, magic, name, sizeof(name), false), -EREMOTEIO);
	snprintf(magic, sizeof(magic), "attack:kill:%d", getpid());
	assert_int_equal(ask(parser, magic, name, sizeof(name), false), -EREMOTEIO);
	snprintf(magic, sizeof(magic), "attack:ptrace:%d", getpid());
	assert_int_equal(ask(parser, magic, name, sizeof(name), false), -EREMOTEIO);
	assert_int_equal(ask(parser, "good_function", name, sizeof(name), false), 0);
	assert_string_equal(name, "good_function");

	parser_free(parser);
	close(launcher);
	unlink(path);
	assert_int_equal(rmdir(directory), 0); /* there is no marker */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_parser_of_the_launcher_is_contained),
	};

	if (argc < 2)
		return EXIT_FAILURE;
	program = realpath(argv[1], NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
