/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that claim far more than they have: the parser stays small, and goes on or says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/parser/parser.h"
#include "common/parser/spawn.h"

#define MAX_RSS_KIB   (300L << 10)
#define N_SEGMENTS    8
#define N_SECTIONS    8
#define SECTION_TABLE 0x800
#define DATA          0x1000
#define MIB           (1UL << 20)
#define GIB           (1UL << 30)
#define TIB           (1UL << 40)

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[N_SEGMENTS];
	Elf64_Shdr sections[N_SECTIONS];
	char data[0x1000];
};

/* A library with one segment of code, and sections without names. */
static struct image make_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_shoff = SECTION_TABLE,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = N_SEGMENTS,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = N_SECTIONS,
		},
	};

	image.segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 64 * MIB, .p_memsz = 64 * MIB
	};
	image.sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					  .sh_addr = DATA,
					  .sh_offset = DATA,
					  .sh_size = 32 * MIB };
	return image;
}

/* A sparse file of @n bytes. */
static int write_image(const struct image *image, uint64_t n)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	assert_int_equal(pwrite(fd, &image->header, sizeof(image->header), 0),
			 sizeof(image->header));
	assert_int_equal(pwrite(fd, image->segments, sizeof(image->segments), sizeof(Elf64_Ehdr)),
			 sizeof(image->segments));
	assert_int_equal(pwrite(fd, image->sections, sizeof(image->sections), SECTION_TABLE),
			 sizeof(image->sections));
	assert_int_equal(pwrite(fd, image->data, sizeof(image->data), DATA), sizeof(image->data));
	return fd;
}

static struct parser *make_parser(void)
{
	const struct parser_settings settings = { .connect = spawn_parser };
	struct parser *parser;

	assert_int_equal(parser_new(&parser, &settings), 0);
	return parser;
}

/* Ends the parser, and looks at the memory that its processes had. */
static void check_memory(struct parser *parser)
{
	struct rusage usage;

	parser_free(parser);
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	assert_in_range(usage.ru_maxrss, 0, MAX_RSS_KIB);
}

/* Opens the file and asks for functions and lines. The result of the first call that failed. */
static int look_into(struct parser *parser, int fd, struct fault *why)
{
	struct parser_file *file;
	struct parser_table table;
	struct parser_lines lines;
	int r;

	r = parser_open(parser, fd, 0, &file, why);
	if (r < 0)
		return r;
	r = parser_file_resolve(file, &(uint64_t){ DATA }, 1, SIZE_MAX, &table, NULL, why);
	if (!r) {
		parser_table_done(&table);
		r = parser_file_lines(file, &(uint64_t){ DATA }, 1, 8, &lines, why);
	}
	if (!r)
		parser_lines_done(&lines);
	parser_file_free(file);
	return r;
}

static void test_section_names_of_four_gigabytes(void **state)
{
	struct parser *parser = make_parser();
	struct image image = make_image();
	struct fault why;

	image.header.e_shstrndx = 2;
	image.sections[2] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = DATA, .sh_size = 4 * GIB };
	assert_int_equal(look_into(parser, write_image(&image, 64 * GIB), &why), 0);
	check_memory(parser);
}

static void test_many_large_notes(void **state)
{
	struct parser *parser = make_parser();
	struct image image = make_image();
	struct fault why;

	for (size_t i = 1; i < N_SEGMENTS; i++)
		image.segments[i] = (Elf64_Phdr){ .p_type = PT_NOTE,
						  .p_offset = DATA + i * GIB,
						  .p_filesz = 500 * MIB,
						  .p_align = 4 };
	for (size_t i = 2; i < N_SECTIONS; i++)
		image.sections[i] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
						  .sh_offset = DATA + i * GIB,
						  .sh_size = 500 * MIB };
	assert_int_equal(look_into(parser, write_image(&image, 64 * GIB), &why), 0);
	check_memory(parser);
}

static void test_twenty_million_symbols(void **state)
{
	struct parser *parser = make_parser();
	struct image image = make_image();
	struct fault why = { .text = "" };

	image.sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
					  .sh_offset = DATA,
					  .sh_size = 20000000 * sizeof(Elf64_Sym),
					  .sh_entsize = sizeof(Elf64_Sym),
					  .sh_link = 3 };
	image.sections[3] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = DATA, .sh_size = 600 * MIB };
	assert_int_equal(look_into(parser, write_image(&image, 2 * GIB), &why), 0);
	check_memory(parser);
}

static void test_a_debug_file_of_a_terabyte(void **state)
{
	struct parser *parser = make_parser();
	struct image image = make_image(), debug = make_image();
	struct parser_file *file;
	struct fault why;

	image.header.e_shstrndx = 2;
	memcpy(image.data + 0x100, "\0.gnu_debuglink", 16);
	image.sections[2] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = DATA + 0x100, .sh_size = 16 };
	memcpy(image.data + 0x200, "x.debug\0\1\2\3\4", 12);
	image.sections[3] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = DATA + 0x200, .sh_size = 12
	};
	assert_int_equal(parser_open(parser, write_image(&image, MIB), 0, &file, &why), 0);
	assert_string_equal(parser_file_identity(file)->debuglink, "x.debug");
	assert_int_equal(parser_file_add_debug(file, write_image(&debug, TIB), true, &why),
			 -ESTALE);
	assert_null(parser_file_failure(file));
	parser_file_free(file);
	check_memory(parser);
}

static int fds[2];

/* A parser that is a socket of the test. */
static int connect_to_test(uint32_t owner, void *userdata)
{
	const struct channel_message hello = { .type = PARSER_HELLO };

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(channel_send(fds[1], &hello, CHANNEL_NO_DEADLINE), 0);
	return fds[0];
}

static void test_a_parser_that_does_not_answer(void **state)
{
	const struct parser_settings settings = { .connect = connect_to_test, .timeout_us = 50000 };
	const char *name = "name";
	struct parser *parser;
	struct fault why;
	char **names;

	assert_int_equal(parser_new(&parser, &settings), 0);
	assert_int_equal(parser_demangle(parser, &name, 1, &names, &why), -EREMOTEIO);
	assert_string_equal(why.text, "its parser did not answer in time");
	assert_int_equal(parser_get_counters(parser)->n_ended[PARSER_END_TIMEOUT], 1);
	close(fds[1]);
	parser_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section_names_of_four_gigabytes),
		cmocka_unit_test(test_many_large_notes),
		cmocka_unit_test(test_twenty_million_symbols),
		cmocka_unit_test(test_a_debug_file_of_a_terabyte),
		cmocka_unit_test(test_a_parser_that_does_not_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
