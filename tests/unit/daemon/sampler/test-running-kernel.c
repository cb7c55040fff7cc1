/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Modules that come while it runs, of which the kernel itself does not tell. */
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
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/sampler/running-kernel.h"

#define FIRST                                         \
	"zz_late 20480 0 - Live 0xffffffffc0a5d000\n" \
	"zz_early 8192 2 zz_late,zz_x, Live 0xffffffffc0900000\n"

static int on_event(const struct event *event, void *userdata)
{
	char *told = userdata;
	size_t n = strlen(told);

	assert_int_equal(event->kind, EVENT_MAPPING);
	assert_true(event->mapping.kernel && event->mapping.executable);
	snprintf(told + n, 256 - n, "%s at %llx, %llu;", event->mapping.path,
		 (unsigned long long)event->mapping.address,
		 (unsigned long long)event->mapping.n_bytes);
	return 0;
}

static void assert_told(struct running_kernel *kernel, const char *proc_modules,
			const char *expected)
{
	_cleanup_fclose_ FILE *f = fmemopen((char *)proc_modules, strlen(proc_modules), "r");
	char told[256] = "";

	assert_non_null(f);
	assert_int_equal(running_kernel_read_modules(kernel, f, on_event, told), 0);
	assert_string_equal(told, expected);
}

static void test_only_what_is_new_is_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1, ""), 0);
	assert_told(kernel, FIRST,
		    "[zz_early] at ffffffffc0900000, 8192;[zz_late] at ffffffffc0a5d000, 20480;");
	assert_told(kernel, FIRST, "");
	/* used by another one */
	assert_told(kernel,
		    "zz_early 8192 3 zz_y, Live 0xffffffffc0900000\n"
		    "zz_late 20480 0 - Live 0xffffffffc0a5d000\n"
		    "zz_new 4096 0 - Loading 0xffffffffc0b00000 (OE)\n",
		    "[zz_new] at ffffffffc0b00000, 4096;");
}

/* By its size a module may seem to reach into the next one. */
static void test_what_is_behind_a_new_one_is_told_again(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1, ""), 0);
	assert_told(kernel,
		    "zz_a 4096 0 - Live 0xffffffffc0100000\n"
		    "zz_c 4096 0 - Live 0xffffffffc0300000\n",
		    "[zz_a] at ffffffffc0100000, 4096;[zz_c] at ffffffffc0300000, 4096;");
	assert_told(kernel,
		    "zz_a 4096 0 - Live 0xffffffffc0100000\n"
		    "zz_b 4194304 0 - Live 0xffffffffc0200000\n"
		    "zz_c 4096 0 - Live 0xffffffffc0300000\n",
		    "[zz_b] at ffffffffc0200000, 4194304;[zz_c] at ffffffffc0300000, 4096;");
}

static void test_another_in_its_place_is_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1, ""), 0);
	assert_told(kernel, "zz_a 4096 0 - Live 0xffffffffc0b00000\n",
		    "[zz_a] at ffffffffc0b00000, 4096;");
	assert_told(kernel, "zz_b 4096 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 4096;");
	assert_told(kernel, "zz_b 8192 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 8192;");
	assert_told(kernel, "\n", "");
	assert_told(kernel, "zz_b 8192 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 8192;");
}

static void test_hidden_addresses_are_not_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1, ""), 0);
	assert_told(kernel, "zz_a 4096 0 - Live 0x0000000000000000\nnonsense\n", "");
}

static int refuse(const struct event *event, void *userdata)
{
	return -EIO;
}

static void test_an_error_is_passed_on(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;
	_cleanup_fclose_ FILE *f = fmemopen((char *)FIRST, strlen(FIRST), "r");

	assert_non_null(f);
	assert_int_equal(running_kernel_new(&kernel, -1, -1, ""), 0);
	assert_int_equal(running_kernel_read_modules(kernel, f, refuse, NULL), -EIO);
}

#define KALLSYMS                                 \
	"0000000000001000 A __per_cpu_start\n"   \
	"ffffffff81000000 T _text\n"             \
	"ffffffff81000000 T _stext\n"            \
	"ffffffff81000040 t do_one\n"            \
	"ffffffff81400000 T _etext\n"            \
	"nonsense\n"                             \
	"ffffffffc0010040 t late\t[zz_late]\n"   \
	"ffffffffc0020000 t bpf_prog_b\t[bpf]\n" \
	"ffffffffc0010000 t bpf_prog_a\t[bpf]\n" \
	"ffffffffc0030000 t ftrace_trampoline\t[__builtin__ftrace]"

static int on_reported(const struct event *event, void *userdata)
{
	char *told = userdata;
	size_t n = strlen(told);

	if (event->kind == EVENT_MAPPING)
		return on_event(event, userdata);
	assert_int_equal(event->kind, EVENT_KSYMBOL);
	snprintf(told + n, 256 - n, "%s at %llx, %u;", event->ksymbol.name,
		 (unsigned long long)event->ksymbol.address, event->ksymbol.n_bytes);
	return 0;
}

static int open_text(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void test_what_kallsyms_has_and_its_copy(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;
	struct handover copy = { 0 };
	char told[256] = "", again[256] = "", copied[1024] = "";
	int fd;

	assert_int_equal(running_kernel_new(&kernel, open_text(KALLSYMS), -1, ""), 0);
	assert_int_equal(handover_take(&copy), -ENOENT);
	running_kernel_keep(kernel, &copy, -1);
	assert_int_equal(running_kernel_report(kernel, on_reported, told), 0);
	assert_string_equal(told, "[kernel.kallsyms] at ffffffff81000000, 4194304;"
				  "bpf_prog_a at ffffffffc0010000, 65536;"
				  "bpf_prog_b at ffffffffc0020000, 65536;"
				  "ftrace_trampoline at ffffffffc0030000, 65536;");
	running_kernel_keep(kernel, NULL, -1);
	assert_int_equal(running_kernel_report(kernel, on_reported, again), 0);
	assert_string_equal(again, told);
	fd = handover_take(&copy);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, copied, sizeof(copied), 0), strlen(KALLSYMS));
	assert_string_equal(copied, KALLSYMS);
	close(fd);
	assert_int_equal(handover_take(&copy), -ENOENT);

	/* one that nobody takes is closed by the next, and at the end */
	fd = open_text("");
	handover_put(&copy, fd);
	handover_put(&copy, open_text(""));
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	handover_done(&copy);
	assert_int_equal(handover_take(&copy), -ENOENT);
}

/* The kernel's build-id. */
static const uint8_t notes[] = { 4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };

struct kept_place {
	char path[48], notes[32];
	int directory, fd; /* fd: of the notes */
};

/* The same kernel at another address; what is behind the head must not be needed for it. */
#define MOVED                                  \
	"0000000000001000 A __per_cpu_start\n" \
	"ffffffff91000000 T _stext\n"          \
	"ffffffff91000000 T _text\n"           \
	"ffffffff91000040 t do_one\n"          \
	"ffffffffd0010000 t bpf_prog_a\t[bpf]\n"

#define MOVED_KERNEL "[kernel.kallsyms] at ffffffff91000000, 4194304;"
#define MOVED_REST   "bpf_prog_a at ffffffffd0010000, 65536;"
/* Its code lies in what is reported of bpf_prog_a. */
#define NEAR         "zz_near 4096 0 - Live 0xffffffffd0012000\n"
#define NEAR_REPORT  "[zz_near] at ffffffffd0012000, 4096;"

/* In @place, with the modules of @modules or without any. */
static void assert_reported(const struct kept_place *place, const char *text, const char *modules,
			    const char *all, const char *rest)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;
	char told[256] = "", later[256] = "", nothing[256] = "";
	int directory = place->directory;

	assert_int_equal(running_kernel_new(&kernel, open_text(text),
					    modules ? open_text(modules) : -1, place->notes),
			 0);
	running_kernel_keep(kernel, NULL, directory);
	assert_int_equal(running_kernel_report(kernel, on_reported, told), 0);
	assert_string_equal(told, all);
	assert_int_equal(running_kernel_report_generated(kernel, on_reported, later), 0);
	assert_string_equal(later, rest);
	assert_int_equal(running_kernel_report_generated(kernel, on_reported, nothing), 0);
	assert_string_equal(nothing, "");
}

static void damage(int directory, off_t at)
{
	int fd = openat(directory, "kernel-extent", O_RDWR | O_CLOEXEC);
	char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x40;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void make_place(struct kept_place *place)
{
	*place = (struct kept_place){ .path = "/tmp/test-running-kernel-XXXXXX" };
	assert_non_null(mkdtemp(place->path));
	place->directory = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	place->fd = memfd_create("notes", MFD_CLOEXEC);
	assert_int_equal(write(place->fd, notes, sizeof(notes)), sizeof(notes));
	snprintf(place->notes, sizeof(place->notes), "/proc/self/fd/%d", place->fd);
}

static void remove_place(struct kept_place *place)
{
	close(place->fd);
	assert_int_equal(unlinkat(place->directory, "kernel-extent", 0), 0);
	close(place->directory);
	assert_int_equal(rmdir(place->path), 0);
}

static void test_what_is_kept_saves_the_reading(void **state)
{
	const char *all = "[kernel.kallsyms] at ffffffff81000000, 4194304;"
			  "bpf_prog_a at ffffffffc0010000, 65536;"
			  "bpf_prog_b at ffffffffc0020000, 65536;"
			  "ftrace_trampoline at ffffffffc0030000, 65536;";
	struct kept_place place;

	make_place(&place);
	assert_reported(&place, MOVED, NULL, MOVED_REST, ""); /* its end is not known */
	assert_reported(&place, KALLSYMS, NULL, all, "");
	assert_reported(&place, MOVED, NULL, MOVED_KERNEL, MOVED_REST);
	for (off_t at = 0; at < 72; at += 4) { /* all of it */
		damage(place.directory, at);
		assert_reported(&place, KALLSYMS, NULL, all, "");
		assert_reported(&place, MOVED, NULL, MOVED_KERNEL, MOVED_REST);
	}
	remove_place(&place);
}

/* A generated function is reported too long, so modules are reported after it. */
static void test_modules_come_last(void **state)
{
	const char *all = "[kernel.kallsyms] at ffffffff81000000, 4194304;"
			  "bpf_prog_a at ffffffffc0010000, 65536;"
			  "bpf_prog_b at ffffffffc0020000, 65536;"
			  "ftrace_trampoline at ffffffffc0030000, 65536;" NEAR_REPORT;
	struct kept_place place;

	make_place(&place);
	assert_reported(&place, KALLSYMS, NEAR, all, "");
	assert_reported(&place, MOVED, NEAR, MOVED_KERNEL NEAR_REPORT, MOVED_REST NEAR_REPORT);
	remove_place(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_kallsyms_has_and_its_copy),
		cmocka_unit_test(test_what_is_kept_saves_the_reading),
		cmocka_unit_test(test_modules_come_last),
		cmocka_unit_test(test_only_what_is_new_is_told),
		cmocka_unit_test(test_what_is_behind_a_new_one_is_told_again),
		cmocka_unit_test(test_another_in_its_place_is_told),
		cmocka_unit_test(test_hidden_addresses_are_not_told),
		cmocka_unit_test(test_an_error_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
