/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/channel/channel.h"
#include "common/util/cleanup.h"
#include "daemon/naming/file-table.h"
#include "daemon/opener/messages.h"
#include "tests/support/opener-process.h"

#define N_FILES 6

struct fixture {
	struct opener_process process;
	struct opener *opener;
	struct file_table *table;
	char folder[64], paths[N_FILES][96];
	bool not_now;
	unsigned int n_read;
};

/* The first byte of the file. */
static int read_id(int fd, const struct file_identity *identity, struct build_id *ret,
		   void *userdata)
{
	struct fixture *f = userdata;

	if (f->not_now)
		return -EAGAIN;
	f->n_read++;
	ret->n = 1;
	assert_int_equal(pread(fd, ret->bytes, 1, 0), 1);
	return 0;
}

static void write_file(const struct fixture *f, int i, char c)
{
	_cleanup_close_ int fd = open(f->paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, &c, 1) == 1);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct file_table_settings settings = { .max_open = 4, .read_id = read_id, .userdata = f };

	assert_non_null(f);
	settings.opener = f->opener = opener_process_new(&f->process, 0);
	assert_int_equal(file_table_new(&f->table, &settings), 0);
	strcpy(f->folder, "/tmp/file-table-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	for (int i = 0; i < N_FILES; i++) {
		snprintf(f->paths[i], sizeof(f->paths[i]), "%s/%d", f->folder, i);
		write_file(f, i, (char)('a' + i));
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	file_table_free(f->table);
	opener_free(f->opener);
	opener_process_kill(&f->process);
	for (int i = 0; i < N_FILES; i++)
		unlink(f->paths[i]);
	rmdir(f->folder);
	free(f);
	return 0;
}

static struct file_key key_of(const struct fixture *f, int i)
{
	struct stat st;

	assert_int_equal(stat(f->paths[i], &st), 0);
	return (struct file_key){
		.major = major(st.st_dev),
		.minor = minor(st.st_dev),
		.inode = st.st_ino,
	};
}

static const struct named_file *see(struct fixture *f, int i)
{
	struct file_key key = key_of(f, i);
	struct mapped_file *mapped;

	mapped = mapped_file_new(getpid(), &key, f->paths[i]);
	assert_non_null(mapped);
	file_table_see(f->table, mapped);
	free(mapped);
	return file_table_find(f->table, &key);
}

static const struct named_file *see_and_read(struct fixture *f, int i)
{
	const struct named_file *file = see(f, i);

	file_table_read(f->table, &file->key);
	return file;
}

static void test_a_file_is_read_once(void **state)
{
	struct fixture *f = *state;
	const struct named_file *file = see(f, 0);
	int fd;

	assert_true(file->opened && !file->was_read && file->is_open && !file->ambiguous);
	assert_int_equal(f->n_read, 0);
	file_table_read(f->table, &file->key);
	assert_true(file->was_read && !file->ambiguous);
	assert_int_equal(file->build_id.bytes[0], 'a');
	see_and_read(f, 0);
	assert_int_equal(f->n_read, 1);
	unlink(f->paths[0]);
	fd = file_table_open(f->table, &file->key);
	assert_true(fd >= 0);
	close(fd);
}

static void test_a_changed_file_is_ambiguous(void **state)
{
	struct fixture *f = *state;
	const struct named_file *file;

	see_and_read(f, 0);
	usleep(20000); /* the clock of a file system is coarse */
	write_file(f, 0, 'a');
	file = see_and_read(f, 0);
	assert_int_equal(f->n_read, 2);
	assert_false(file->ambiguous);
	usleep(20000);
	write_file(f, 0, 'z');
	file = see_and_read(f, 0);
	assert_true(file->ambiguous);
	file_table_end_window(f->table);
	assert_false(file->ambiguous);
	assert_int_equal(file->build_id.bytes[0], 'z');
}

/* What it was in the window before was not sampled, or it had been read. */
static void test_a_file_that_changed_earlier_is_not_ambiguous(void **state)
{
	struct fixture *f = *state;
	const struct named_file *file;

	see(f, 0);
	usleep(20000);
	write_file(f, 0, 'z');
	see(f, 0);
	file_table_end_window(f->table);
	file = see_and_read(f, 0);
	assert_true(file->was_read && !file->ambiguous);
	assert_int_equal(file->build_id.bytes[0], 'z');
}

static void test_what_is_not_read_now_is_read_later(void **state)
{
	struct fixture *f = *state;
	const struct named_file *file;

	f->not_now = true;
	file = see_and_read(f, 0);
	assert_true(file->is_open && !file->was_read);
	f->not_now = false;
	file_table_read(f->table, &file->key);
	assert_true(file->was_read);
}

static void test_few_stay_open(void **state)
{
	struct fixture *f = *state;
	size_t n = 0;

	for (int i = 0; i < N_FILES; i++)
		see(f, i);
	for (int i = 0; i < N_FILES; i++) {
		struct file_key key = key_of(f, i);

		n += file_table_find(f->table, &key)->is_open;
	}
	assert_int_equal(n, geteuid() == 0 ? 4 : 1); /* a user's share is a quarter */
	file_table_close_old(f->table, 0);
	assert_int_equal(file_table_open(f->table, &(struct file_key){ .minor = 1 }), -ENOENT);
}

/* An opener that answers the first request: the file is on a remote file system. */
static int connect_refusing(void *userdata)
{
	struct opener_reply reply = { .error = -EREMOTE };
	char bytes[sizeof(reply) + 1] = "";
	const struct channel_message ready = { .type = OPENER_READY };
	const struct channel_message refusal = {
		.type = OPENER_REPLY,
		.bytes = bytes,
		.n_bytes = sizeof(bytes),
	};
	int *other_end = userdata, ends[2];

	memcpy(bytes, &reply, sizeof(reply));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(channel_send(ends[1], &ready, CHANNEL_NO_DEADLINE), 0);
	assert_int_equal(channel_send(ends[1], &refusal, CHANNEL_NO_DEADLINE), 0);
	*other_end = ends[1];
	return ends[0];
}

static void test_files_on_remote_file_systems_are_counted(void **state)
{
	int other_end = -1;
	const struct opener_settings remote = { .connect = connect_refusing,
						.userdata = &other_end };
	struct file_table_settings settings = { .max_open = 4, .read_id = read_id };
	struct fixture *f = *state;

	opener_free(f->opener);
	assert_int_equal(opener_new(&f->opener, &remote), 0);
	settings.opener = f->opener;
	settings.userdata = f;
	file_table_free(f->table);
	assert_int_equal(file_table_new(&f->table, &settings), 0);
	assert_int_equal(file_table_count_remote(f->table), 0);
	assert_false(see(f, 0)->opened);
	assert_false(see(f, 0)->opened); /* it is not tried again so soon */
	assert_int_equal(file_table_count_remote(f->table), 1);
	close(other_end);
}

/* Whoever has a user namespace has many uids. */
static void test_many_users_leave_half(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		return; /* all files are of one user */
	for (int i = 0; i < N_FILES; i++) {
		if (i >= 2)
			assert_int_equal(chown(f->paths[i], 100000 + (uid_t)i, 0), 0);
		see(f, i);
	}
	for (int i = 0; i < N_FILES; i++) {
		struct file_key key = key_of(f, i);

		assert_int_equal(file_table_find(f->table, &key)->is_open, i < 2 || i >= 4);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_file_is_read_once),
		TEST(test_a_changed_file_is_ambiguous),
		TEST(test_a_file_that_changed_earlier_is_not_ambiguous),
		TEST(test_what_is_not_read_now_is_read_later),
		TEST(test_few_stay_open),
		TEST(test_many_users_leave_half),
		TEST(test_files_on_remote_file_systems_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
