/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths are other people's word: what branchd-opener opens of them, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/opener/maps-line.h"
#include "tests/support/opener-process.h"

struct fixture {
	struct opener_process process;
	struct opener *opener;
	char folder[64], path[96];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->opener = opener_process_new(&f->process, 1000000);
	strcpy(f->folder, "/tmp/opener-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/file", f->folder);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	opener_free(f->opener);
	opener_process_kill(&f->process);
	unlink(f->path);
	rmdir(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

/* A file that this process maps nowhere. */
static struct opener_file named(const char *path, uint64_t inode)
{
	struct opener_file file = { .pid = getpid(), .path = path, .inode = inode };
	struct stat st;

	if (stat(path, &st) == 0) {
		file.major = major(st.st_dev);
		file.minor = minor(st.st_dev);
	}
	return file;
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static int try_path(struct fixture *f, const char *path, uint64_t inode)
{
	struct opener_file file = named(path, inode);
	struct file_identity identity;
	int fd = opener_open(f->opener, &file, &identity);

	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

static void make_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void test_a_program(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	char path[PATH_MAX] = "";
	struct opener_file file;
	struct stat st, got;
	int fd;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(stat(path, &st), 0);
	file = named(path, st.st_ino);
	fd = opener_open(f->opener, &file, &identity);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &got), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	assert_true(got.st_ino == st.st_ino && got.st_dev == st.st_dev);
	assert_int_equal(identity.inode, st.st_ino);
	assert_int_equal(identity.major, major(st.st_dev));
	assert_int_equal(identity.minor, minor(st.st_dev));
	assert_int_equal(identity.n_bytes, st.st_size);
	assert_int_equal(identity.uid, st.st_uid);
	assert_int_equal(identity.ctime_ns,
			 (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
}

static bool is_nosuid(const char *path)
{
	struct statvfs fs;

	assert_int_equal(statvfs(path, &fs), 0);
	return fs.f_flag & ST_NOSUID;
}

static void test_who_may_write_is_told(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	struct opener_file file;

	make_file(f->path, "x");
	file = named(f->path, inode_of(f->path));
	for (mode_t mode = 0600; mode <= 0622; mode += 2) {
		assert_int_equal(chmod(f->path, mode), 0);
		close(opener_open(f->opener, &file, &identity));
		assert_int_equal(identity.trusted,
				 getuid() == 0 && !(mode & 022) && !is_nosuid(f->folder));
	}
}

/* As on a stick that a user has plugged in. */
static void test_owners_on_a_nosuid_mount_are_not_believed(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	struct opener_file file;
	int fd;

	if (!is_nosuid("/dev/shm"))
		return; /* nothing to try it on */
	snprintf(f->path, sizeof(f->path), "/dev/shm/test-opener-%d", getpid());
	make_file(f->path, "x");
	file = named(f->path, inode_of(f->path));
	fd = opener_open(f->opener, &file, &identity);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(identity.uid, getuid());
	assert_false(identity.trusted);
}

static void test_another_file_by_that_name(void **state)
{
	struct fixture *f = *state;

	make_file(f->path, "x");
	assert_int_equal(try_path(f, f->path, inode_of(f->path)), 0);
	assert_int_equal(try_path(f, f->path, inode_of(f->path) + 1), -ESTALE);
	assert_int_equal(try_path(f, "/no/such/file", 1), -ENOENT);
	assert_int_equal(try_path(f, "no path", 1), -ENOENT);
}

/* It has left nothing in /proc; in some containers nobody may follow the root of process 1. */
static void test_a_file_of_a_process_that_has_ended(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	struct opener_file file;
	pid_t ended = fork();
	int fd;

	if (ended == 0)
		_exit(0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	make_file(f->path, "x");
	file = named(f->path, inode_of(f->path));
	file.pid = ended;
	fd = opener_open(f->opener, &file, &identity);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(identity.inode, file.inode);
	file.inode++;
	assert_true(opener_open(f->opener, &file, &identity) < 0);
}

/* Inode numbers are unique on one file system only, and who mounts one has any. */
static void test_a_file_of_another_device(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	struct opener_file file;

	make_file(f->path, "x");
	file = named(f->path, inode_of(f->path));
	file.minor++;
	assert_int_equal(opener_open(f->opener, &file, &identity), -ESTALE);
	file.minor--;
	file.major++;
	assert_int_equal(opener_open(f->opener, &file, &identity), -ESTALE);
}

/* To open one may set something going: a writer that waits for a reader, a device. */
static void test_what_is_no_file_is_not_opened(void **state)
{
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct fixture *f = *state;
	char event[4096];

	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, f->path, IN_OPEN) >= 0);
	assert_int_equal(try_path(f, f->path, inode_of(f->path)), -ENOEXEC);
	assert_true(read(watch, event, sizeof(event)) < 0);
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(try_path(f, f->path, inode_of(f->path)), -ENOEXEC);
	rmdir(f->path);
	assert_int_equal(symlink("/dev/zero", f->path), 0);
	assert_int_equal(try_path(f, f->path, inode_of("/dev/zero")), -ENOEXEC);
}

struct swapper {
	const char *path;
	char other[128];
	_Atomic bool stop;
};

/* The path is a file and a link to a device in turn. */
static void *swap(void *userdata)
{
	struct swapper *s = userdata;

	while (!atomic_load(&s->stop)) {
		if (symlink("/dev/zero", s->other) == 0)
			rename(s->other, s->path);
		make_file(s->other, "x");
		rename(s->other, s->path);
	}
	return NULL;
}

static void test_a_path_that_changes_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct swapper swapper = { .path = f->path };
	pthread_t thread;

	snprintf(swapper.other, sizeof(swapper.other), "%s.other", f->path);
	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	for (int i = 0; i < 2000; i++) {
		struct stat st = {};
		struct opener_file file;
		struct file_identity identity;
		int fd;

		(void)!lstat(f->path, &st);
		file = named(f->path, st.st_ino);
		fd = opener_open(f->opener, &file, &identity);
		if (fd < 0)
			continue;
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(S_ISREG(st.st_mode) && st.st_ino == file.inode);
		close(fd);
	}
	atomic_store(&swapper.stop, true);
	pthread_join(thread, NULL);
	unlink(swapper.other);
	assert_int_equal(f->process.n_started, 1);
}

/* A file that is mapped with a newline in its name, and has lost it. */
static void test_a_deleted_file(void **state)
{
	struct fixture *f = *state;
	struct file_identity identity;
	struct opener_file file;
	struct stat st, found;
	void *mapped;
	int fd;

	snprintf(f->path, sizeof(f->path), "%s/a\nb", f->folder);
	fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &st) == 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	assert_int_equal(unlink(f->path), 0);
	strcat(f->path, " (deleted)");
	file = named(f->path, st.st_ino);
	file.major = major(st.st_dev);
	file.minor = minor(st.st_dev);
	file.start = (uint64_t)(uintptr_t)mapped;
	file.end = file.start + 4096;
	fd = opener_open(f->opener, &file, &identity);
	munmap(mapped, 4096);
	if (fd < 0 && getuid() != 0)
		return; /* not everybody may open it */
	assert_true(fd >= 0 && fstat(fd, &found) == 0);
	close(fd);
	assert_true(found.st_ino == st.st_ino);
}

/* The lines of executable memory, and no others. */
static void test_maps(void **state)
{
	struct fixture *f = *state;
	char executable[PATH_MAX], expected[PATH_MAX] = "", line[PATH_MAX + 128];
	_cleanup_fclose_ FILE *maps = NULL;
	bool found = false;
	struct maps_line m;

	maps = fdopen(opener_open_maps(f->opener, getpid(), executable, sizeof(executable)), "r");
	assert_non_null(maps);
	assert_true(readlink("/proc/self/exe", expected, sizeof(expected) - 1) > 0);
	assert_string_equal(executable, expected);
	while (fgets(line, sizeof(line), maps)) {
		assert_true(maps_line_parse(line, &m) && m.executable);
		found |= strcmp(m.path, expected) == 0 && m.inode == inode_of(expected);
	}
	assert_true(found);
	assert_int_equal(opener_open_maps(f->opener, INT32_MAX, executable, PATH_MAX), -ENOENT);
}

static void test_a_killed_process_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct opener_counts counts;

	make_file(f->path, "x");
	for (unsigned int i = 1; i <= 5; i++) {
		assert_int_equal(try_path(f, f->path, inode_of(f->path)), 0);
		assert_int_equal(f->process.n_started, i);
		opener_process_kill(&f->process);
	}
	opener_get_counts(f->opener, &counts);
	assert_int_equal(counts.opened, 5);
	assert_int_equal(counts.hung, 0);
}

/* Process 1 is root's, others are of a user. */
static int64_t user_of(int32_t pid)
{
	return pid == 1 ? 0 : pid;
}

static int hang(struct fixture *f, const struct opener_file *file)
{
	struct file_identity identity;
	pid_t stopped;
	int r;

	assert_true(f->process.n_started > 0);
	stopped = f->process.pid;
	assert_int_equal(kill(stopped, SIGSTOP), 0);
	r = opener_open(f->opener, file, &identity);
	kill(stopped, SIGKILL);
	waitpid(stopped, NULL, 0);
	return r;
}

static int try_file(struct fixture *f, const struct opener_file *file)
{
	struct file_identity identity;
	int fd = opener_open(f->opener, file, &identity);

	if (fd >= 0)
		close(fd);
	return fd == -EBUSY ? -EBUSY : 0;
}

static void use_users(struct fixture *f)
{
	const struct opener_settings settings = {
		.connect = opener_process_connect,
		.userdata = &f->process,
		.patience_us = 300000,
		.user_of = user_of,
	};

	opener_free(f->opener);
	assert_int_equal(opener_new(&f->opener, &settings), 0);
}

/* As when a file system hangs: it is left alone, and other files are opened by another process. */
static void test_a_stopped_process_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct opener_file bad, good;
	struct opener_counts counts;
	uint64_t begun;

	use_users(f);
	make_file(f->path, "x");
	good = bad = named(f->path, inode_of(f->path));
	good.pid = bad.pid = 1;
	bad.minor++;
	assert_int_equal(try_file(f, &good), 0);
	begun = clock_us(CLOCK_MONOTONIC);
	assert_int_equal(hang(f, &bad), -ETIMEDOUT);
	assert_in_range(clock_us(CLOCK_MONOTONIC) - begun, 250000, 2000000);
	assert_int_equal(try_file(f, &bad), -EBUSY);
	assert_int_equal(try_file(f, &good), 0);
	assert_int_equal(f->process.n_started, 2);
	opener_get_counts(f->opener, &counts);
	assert_int_equal(counts.hung, 1);
	assert_int_equal(counts.skipped, 1);

	/* the machine may just have been busy: it is tried again soon, and is good if it answers */
	usleep(1100000);
	assert_int_equal(try_file(f, &bad), 0);
	assert_int_equal(hang(f, &bad), -ETIMEDOUT);
	usleep(1100000);
	assert_int_equal(try_file(f, &good), 0);
	assert_int_equal(hang(f, &bad), -ETIMEDOUT);
	usleep(1100000);
	assert_int_equal(try_file(f, &bad), -EBUSY);
}

/* A process of a user that hangs says nothing about the file system of what it maps. */
static void test_a_user_who_hangs_is_alone(void **state)
{
	struct fixture *f = *state;
	struct opener_file file;

	use_users(f);
	make_file(f->path, "x");
	file = named(f->path, inode_of(f->path));
	file.pid = 1;
	assert_int_equal(try_file(f, &file), 0);
	file.pid = 2;
	assert_int_equal(hang(f, &file), -ETIMEDOUT);
	assert_int_equal(try_file(f, &file), -EBUSY);
	file.minor++; /* whatever he maps */
	assert_int_equal(try_file(f, &file), -EBUSY);
	file.minor--;
	file.pid = 1;
	assert_int_equal(try_file(f, &file), 0);
	file.pid = 3;
	assert_int_equal(try_file(f, &file), 0);
}

/* The process ends with its connection. */
static void test_the_process_ends(void **state)
{
	struct opener_process process;
	struct opener *opener = opener_process_new(&process, 0);
	struct file_identity identity;
	struct opener_file file = named("/", 1);
	int status;

	assert_true(opener_open(opener, &file, &identity) < 0);
	opener_free(opener);
	assert_int_equal(waitpid(process.pid, &status, 0), process.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_program),
		TEST(test_who_may_write_is_told),
		TEST(test_owners_on_a_nosuid_mount_are_not_believed),
		TEST(test_another_file_by_that_name),
		TEST(test_a_file_of_a_process_that_has_ended),
		TEST(test_a_file_of_another_device),
		TEST(test_what_is_no_file_is_not_opened),
		TEST(test_a_path_that_changes_meanwhile),
		TEST(test_a_deleted_file),
		TEST(test_maps),
		TEST(test_a_killed_process_is_replaced),
		TEST(test_a_stopped_process_is_replaced),
		TEST(test_a_user_who_hangs_is_alone),
		cmocka_unit_test(test_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
