/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A parser under foreign control tries to do harm: test-system-calls GUARDED UNGUARDED. Each attack
 * is made twice: in the sandbox, where nothing may come of it, and without it, where the harm shows
 * that this test would see it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/un.h>

#include "tests/attacked/trial.h"

#define TIMEOUT_US 20000000

enum argument { NOTHING, MARKER, SECRET, SOCKET, VICTIM };

/* Expected in the sandbox. */
enum outcome {
	KILLED,  /* by the kernel, for a forbidden system call */
	REFUSED, /* the call fails */
	FAILED,  /* the call fails, or the parser ends for whatever reason */
};

static const struct {
	const char *verb;
	enum argument argument;
	enum outcome outcome;
	bool everywhere; /* works wherever there is no sandbox, so the test has to see it */
} attacks[] = {
	{ "execve", MARKER, KILLED, true },
	{ "execveat", MARKER, KILLED, true },
	{ "open", SECRET, REFUSED, true },
	{ "create", MARKER, REFUSED, true },
	{ "openat2", SECRET, KILLED, false },
	{ "mkdir", MARKER, KILLED, true },
	{ "unlink", SECRET, KILLED, true },
	{ "chmod", SECRET, KILLED, true },
	{ "inotify", NOTHING, KILLED, true },
	{ "write", NOTHING, KILLED, true },
	{ "truncate", NOTHING, KILLED, true },
	{ "map-shared", NOTHING, REFUSED, true },
	{ "inet", NOTHING, KILLED, true },
	{ "connect", SOCKET, KILLED, true },
	{ "ptrace", VICTIM, KILLED, true },
	{ "process_vm_writev", VICTIM, KILLED, false },
	{ "let-go", NOTHING, KILLED, true },
	{ "outlive", NOTHING, KILLED, true },
	{ "kill", VICTIM, KILLED, true },
	{ "tgkill", VICTIM, KILLED, true },
	{ "mmap-exec", NOTHING, KILLED, true },
	{ "mprotect-exec", NOTHING, KILLED, true },
	{ "pkey_mprotect-exec", NOTHING, KILLED, false },
	{ "memfd", NOTHING, KILLED, true },
	{ "clone", NOTHING, KILLED, true },
	{ "clone3", NOTHING, KILLED, false },
	{ "prctl", NOTHING, KILLED, true },
	{ "setrlimit", NOTHING, KILLED, true },
	{ "setpriority", NOTHING, KILLED, false },
	{ "setresuid", NOTHING, KILLED, false },
	{ "unshare", NOTHING, KILLED, false },
	{ "io_uring", NOTHING, KILLED, false },
	{ "bpf", NOTHING, KILLED, false },
	{ "perf_event_open", NOTHING, KILLED, false },
	{ "write-error", NOTHING, KILLED, true },
	{ "allocate", NOTHING, FAILED, true },
#ifdef __x86_64__
	{ "create-32", MARKER, FAILED, false },
	{ "create-x32", MARKER, KILLED, false },
#endif
};

static char *guarded, *unguarded;

/* What an attack may harm. */
struct world {
	char directory[32], marker[64], secret[64], socket[64], pid[16];
	int listener;
	pid_t victim;
};

static void make_world(struct world *w)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	strcpy(w->directory, "/tmp/attacked-XXXXXX");
	assert_non_null(mkdtemp(w->directory));
	assert_int_equal(chmod(w->directory, 0777), 0); /* the parser may be nobody */
	snprintf(w->marker, sizeof(w->marker), "%s/marker", w->directory);
	snprintf(w->secret, sizeof(w->secret), "%s/secret", w->directory);
	snprintf(w->socket, sizeof(w->socket), "%s/socket", w->directory);
	fd = open(w->secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "secret", 6), 6);
	close(fd);
	w->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strncpy(address.sun_path, w->socket, sizeof(address.sun_path) - 1);
	assert_int_equal(bind(w->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(w->listener, 1), 0);
	assert_int_equal(chmod(w->socket, 0777), 0);
	w->victim = fork();
	if (w->victim == 0) {
		close_range(STDERR_FILENO + 1, ~0U, 0); /* connections would stay open */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(w->pid, sizeof(w->pid), "%d", w->victim);
}

static void end_world(struct world *w)
{
	kill(w->victim, SIGKILL);
	waitpid(w->victim, NULL, 0);
	close(w->listener);
	unlink(w->socket);
	unlink(w->secret);
	unlink(w->marker);
	rmdir(w->marker);
	assert_int_equal(rmdir(w->directory), 0);
}

static bool is_traced(pid_t pid)
{
	char path[64], line[256];
	bool traced = false;
	FILE *status;
	int tracer;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			traced = tracer != 0;
	if (status)
		fclose(status);
	return traced;
}

static bool is_changed(const struct world *w)
{
	struct pollfd connection = { .fd = w->listener, .events = POLLIN };
	struct stat st;

	return access(w->marker, F_OK) == 0 || stat(w->secret, &st) < 0 || st.st_size != 6 ||
	       (st.st_mode & 0777) != 0644 || poll(&connection, 1, 0) != 0 ||
	       waitpid(w->victim, NULL, WNOHANG) != 0 || is_traced(w->victim);
}

/* What came of one attack. */
struct result {
	int r;
	char name[64];
	bool harm; /* something has changed, or the attacker says so */
	size_t n_forbidden, n_pids;
};

static struct result attack(struct trial *t, const char *verb, enum argument argument, int flags)
{
	struct world world = {};
	const char *arguments[] = { "", world.marker, world.secret, world.socket, world.pid };
	struct result result = {};
	struct fault why = {};
	struct parser_file *file;
	char name[256];

	make_world(&world);
	t->n_forbidden = 0;
	snprintf(name, sizeof(name), "attack:%s:%s", verb, arguments[argument]);
	file = trial_open(t, OWNER_OF_ATTACKER, name, flags);
	result.r = trial_name(file, result.name, sizeof(result.name), &why);
	parser_file_free(file);
	result.n_pids = t->n_pids;
	trial_end_parsers(t);
	result.n_forbidden = t->n_forbidden;
	result.harm = is_changed(&world) || !strcmp(result.name, "done");
	end_world(&world);
	return result;
}

static void check(const struct result *result, enum outcome outcome)
{
	assert_false(result->harm);
	if (outcome == REFUSED) {
		assert_int_equal(result->r, 0);
		assert_true(!strncmp(result->name, "refused ", 8));
		return;
	}
	if (outcome != KILLED)
		return;
	assert_int_equal(result->r, -EREMOTEIO);
	assert_int_equal(result->n_forbidden, result->n_pids);
}

static void test_nothing_comes_of_attacks_in_the_sandbox(void **state)
{
	struct trial t;

	trial_begin(&t, guarded, TIMEOUT_US);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		struct parser_file *next;
		struct result result;

		print_message("%s\n", attacks[i].verb);
		result = attack(&t, attacks[i].verb, attacks[i].argument, O_RDONLY);
		check(&result, attacks[i].outcome);
		trial_check_name(t.good);
		next = trial_open(&t, OWNER_OF_ATTACKER, "good_function", O_RDONLY);
		trial_check_name(next);
		parser_file_free(next);
	}
	assert_int_equal(t.n_killed, 0);
	trial_end(&t);
	print_message("%zu attacks, no harm\n", ARRAY_SIZE(attacks));
}

static void test_the_same_attacks_do_harm_without_it(void **state)
{
	size_t n_harmful = 0;
	struct trial t;

	trial_begin(&t, unguarded, TIMEOUT_US);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		struct result result;

		print_message("%s", attacks[i].verb);
		result = attack(&t, attacks[i].verb, attacks[i].argument, O_RDWR);
		print_message(": %s\n", result.harm ? "harm" : result.name);
		assert_true(result.harm || !attacks[i].everywhere);
		n_harmful += result.harm;
	}
	trial_end(&t);
	print_message("%zu attacks, harm by %zu\n", ARRAY_SIZE(attacks), n_harmful);
}

static void test_the_client_knows_what_cannot_be_tried(void **state)
{
	struct result result;
	struct trial t;

	trial_begin(&t, guarded, TIMEOUT_US);
	result = attack(&t, "unknown", NOTHING, O_RDONLY);
	assert_int_equal(result.r, 0);
	assert_string_equal(result.name, "refused 95"); /* ENOTSUP */
	trial_end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_client_knows_what_cannot_be_tried),
		cmocka_unit_test(test_the_same_attacks_do_harm_without_it),
		cmocka_unit_test(test_nothing_comes_of_attacks_in_the_sandbox),
	};

	if (argc < 3)
		return EXIT_FAILURE;
	guarded = argv[1];
	unguarded = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
