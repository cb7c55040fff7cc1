/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With the real opener and parser. The C library is what tables are wanted of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/parser/spawn.h"
#include "daemon/naming/table-builder.h"
#include "tests/support/opener-process.h"

#define PATIENCE_US 60000000ull

struct fixture {
	struct opener_process process;
	struct opener *opener;
	struct parser *parser;
	struct table_builder builder;
	char place[64], library[PATH_MAX];
};

static const _Atomic bool no_hurry;
static bool no_parsers;

static int connect_parser(uint32_t owner, void *userdata)
{
	return no_parsers ? -ECONNREFUSED : spawn_parser(owner, userdata);
}

static int read_no_id(int fd, const struct file_identity *identity, struct build_id *ret,
		      void *userdata)
{
	return -EAGAIN;
}

static void open_files(struct fixture *f)
{
	const struct file_table_settings settings = { .opener = f->opener,
						      .max_open = 8,
						      .read_id = read_no_id };

	f->builder.files = file_table_free(f->builder.files);
	assert_int_equal(file_table_new(&f->builder.files, &settings), 0);
}

static void begin(struct fixture *f)
{
	const struct parser_settings parser = { .connect = connect_parser };
	char tables[80];
	const struct kept_files_settings cache = { .directory = tables };
	Dl_info info;

	*f = (struct fixture){ .place = "/tmp/test-table-builder-XXXXXX" };
	no_parsers = false;
	assert_non_null(mkdtemp(f->place));
	snprintf(tables, sizeof(tables), "%s/tables", f->place);
	assert_int_not_equal(dladdr(qsort, &info), 0);
	assert_non_null(realpath(info.dli_fname, f->library));
	f->opener = opener_process_new(&f->process, PATIENCE_US);
	assert_int_equal(parser_new(&f->parser, &parser), 0);
	f->builder.parser = f->parser;
	assert_int_equal(mapped_files_new(&f->builder.mapped), 0);
	assert_int_equal(table_exchange_new(&f->builder.exchange), 0);
	assert_int_equal(table_cache_open(&f->builder.cache, &cache), 0);
	table_builder_renew_budget(&f->builder);
	open_files(f);
}

static void end(struct fixture *f)
{
	char command[96];

	file_table_free(f->builder.files);
	kept_files_free(f->builder.cache);
	table_exchange_free(f->builder.exchange);
	mapped_files_free(f->builder.mapped);
	parser_free(f->parser);
	opener_free(f->opener);
	opener_process_kill(&f->process);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->place);
	assert_int_equal(system(command), 0);
}

/* The table of a file that this process has mapped. */
static struct built_table get(struct fixture *f, const char *path)
{
	struct wanted_table wanted = { .id = 7 };
	struct mapped_file *mapped;
	struct built_table built;
	struct file_key key = {};
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	key.major = wanted.major = major(st.st_dev);
	key.minor = wanted.minor = minor(st.st_dev);
	key.inode = wanted.inode = st.st_ino;
	mapped = mapped_file_new(getpid(), &key, path);
	assert_non_null(mapped);
	file_table_see(f->builder.files, mapped);
	free(mapped);
	assert_true(table_exchange_want(f->builder.exchange, &wanted));
	assert_false(table_builder_run(&f->builder, PATIENCE_US, &no_hurry));
	assert_true(table_exchange_take_built(f->builder.exchange, &built));
	assert_int_equal(built.id, 7);
	return built;
}

static struct kept_files_counts counts_of(const struct fixture *f)
{
	struct kept_files_counts counts;

	kept_files_get_counts(f->builder.cache, &counts);
	return counts;
}

static void test_a_kept_table_needs_no_parser(void **state)
{
	struct built_table first, again;
	struct fixture f;
	struct stat st;

	begin(&f);
	first = get(&f, f.library);
	assert_true(first.table.n_rows > 1000);
	assert_int_equal(stat(f.library, &st), 0);
	if (st.st_uid == 0) {
		assert_int_equal(counts_of(&f).built, 1);
		open_files(&f); /* as after a start */
		no_parsers = true;
		parser_close_all(f.parser);
		again = get(&f, f.library);
		assert_int_equal(counts_of(&f).found, 1);
		assert_int_equal(again.table.n_rows, first.table.n_rows);
		assert_int_equal(again.table.n_bytes, first.table.n_bytes);
		assert_memory_equal(again.table.bytes, first.table.bytes, first.table.n_bytes);
		unwind_table_done(&again.table);
	}
	unwind_table_done(&first.table);
	end(&f);
}

/* It says that it is the C library: whoever may write it could say so of anything. */
static void test_a_table_of_an_untrusted_file_is_not_kept(void **state)
{
	char copy[96], command[PATH_MAX + 256];
	struct built_table built;
	struct fixture f;

	begin(&f);
	snprintf(copy, sizeof(copy), "%s/copy", f.place);
	snprintf(command, sizeof(command), "cp '%s' %s && chmod 0666 %s", f.library, copy, copy);
	assert_int_equal(system(command), 0);
	built = get(&f, copy);
	assert_true(built.table.n_rows > 1000);
	unwind_table_done(&built.table);
	assert_int_equal(counts_of(&f).built, 0);
	assert_int_equal(counts_of(&f).files, 0);
	/* nor does it get the table of the real one */
	built = get(&f, f.library);
	unwind_table_done(&built.table);
	open_files(&f);
	no_parsers = true;
	parser_close_all(f.parser);
	built = get(&f, copy);
	assert_int_equal(built.table.n_rows, 0);
	assert_true(built.later);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_kept_table_needs_no_parser),
		cmocka_unit_test(test_a_table_of_an_untrusted_file_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
