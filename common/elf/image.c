/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ELF by libelf.
 *
 * Files are read, not mapped: the owner of a mapped file can kill its reader with SIGBUS by
 * truncating it. Only requested sections are read. The sizes in headers are limited before libelf
 * allocates by them, because a sparse file of terabytes costs nothing.
 *
 * Relocatable objects, and so the files of kernel modules, are refused: their sections have no
 * addresses.
 */
#include "common/elf/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "common/elf/xz.h"
#include "common/util/cleanup.h"

#define MAX_SEGMENTS      4096
#define MAX_SECTION_BYTES (192UL << 20)
#define MAX_IMAGE_BYTES   (384UL << 20) /* of all sections read */
#define MAX_NAME_BYTES    (16UL << 20)  /* of the names of sections */
#define MAX_NOTE_BYTES    (1UL << 20)   /* of all notes */
#define MAX_PACKED_BYTES  (128UL << 20) /* once unpacked */
#define MAX_ENTRIES       (4U << 20)    /* symbols, relocations */
#define PIECE_ENTRIES     512           /* read at once, on the stack */

/* Only relocatable objects have more than 0xff00 sections, which need extended numbering. */
static bool header_is_sane(const GElf_Ehdr *header)
{
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return false;
	return (header->e_shnum || !header->e_shoff) && header->e_phnum != PN_XNUM;
}

/* libelf trusts the number of sections, so it is checked before libelf sees the file. */
static int check_header(const void *bytes, size_t n)
{
	GElf_Ehdr header = { 0 };
	Elf32_Ehdr small;

	if (n < sizeof(small) || memcmp(bytes, ELFMAG, SELFMAG))
		return -ENOEXEC;
	memcpy(&small, bytes, sizeof(small));
	if (small.e_ident[EI_CLASS] == ELFCLASS64) {
		if (n < sizeof(header))
			return -ENOEXEC;
		memcpy(&header, bytes, sizeof(header));
	} else {
		header.e_type = small.e_type;
		header.e_shnum = small.e_shnum;
		header.e_shoff = small.e_shoff;
		header.e_phnum = small.e_phnum;
	}
	/* another byte order is read in vain as well as this one */
	if (small.e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOEXEC;
	return header_is_sane(&header) ? 0 : -ENOEXEC;
}

static int read_loads(struct elf_image *image)
{
	size_t n;

	if (elf_getphdrnum(image->elf, &n) < 0)
		return -ENOEXEC;
	n = MIN(n, (size_t)MAX_SEGMENTS);
	image->loads.rows = calloc(n ? n : 1, sizeof(*image->loads.rows));
	if (!image->loads.rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != PT_LOAD || !p.p_filesz)
			continue;
		if (p.p_offset > UINT64_MAX - p.p_filesz || p.p_vaddr > UINT64_MAX - p.p_filesz)
			continue;
		image->loads.rows[image->loads.n++] = (struct load){
			.offset = p.p_offset,
			.address = p.p_vaddr,
			.size = p.p_filesz,
			.memory_size = p.p_memsz,
			.executable = p.p_flags & PF_X,
		};
	}
	return 0;
}

/* libelf reads all names at once, by the size that the file claims. */
static bool names_are_sane(struct elf_image *image, size_t section)
{
	GElf_Shdr header;

	return gelf_getshdr(elf_getscn(image->elf, section), &header) &&
	       header.sh_size <= MAX_NAME_BYTES;
}

static int read_sections(struct elf_image *image)
{
	size_t n, names;

	if (elf_getshdrnum(image->elf, &n) < 0 || elf_getshdrstrndx(image->elf, &names) < 0)
		n = 0;
	if (n && !names_are_sane(image, names))
		n = 0;
	image->sections = calloc(n + 1, sizeof(*image->sections));
	if (!image->sections)
		return -ENOMEM;
	image->sections[0].name = "";
	image->n_sections = n ? n : 1;
	for (size_t i = 1; i < n; i++) {
		struct elf_section *s = &image->sections[i];
		GElf_Shdr header;

		s->name = "";
		if (!gelf_getshdr(elf_getscn(image->elf, i), &header))
			continue;
		s->name = elf_strptr(image->elf, names, header.sh_name) ?: "";
		s->type = header.sh_type;
		s->link = header.sh_link < n ? header.sh_link : 0;
		s->offset = header.sh_offset;
		s->address = header.sh_addr;
		s->size = header.sh_size;
		s->entry_size = header.sh_entsize;
		if (s->address > UINT64_MAX - s->size)
			s->size = 0;
		s->executable = (header.sh_flags & SHF_ALLOC) && (header.sh_flags & SHF_EXECINSTR);
	}
	return 0;
}

/* Searches the notes by segment, for files without section headers, then by section. */
static void read_build_id(struct elf_image *image)
{
	size_t n, n_notes = 0;

	if (elf_getphdrnum(image->elf, &n) < 0)
		n = 0;
	for (size_t i = 0; i < MIN(n, (size_t)MAX_SEGMENTS); i++) {
		Elf_Data *notes;
		GElf_Phdr p;

		if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != PT_NOTE ||
		    p.p_filesz > MAX_NOTE_BYTES - n_notes || p.p_offset > INT64_MAX)
			continue;
		n_notes += p.p_filesz;
		notes = elf_getdata_rawchunk(image->elf, (int64_t)p.p_offset, p.p_filesz,
					     ELF_T_BYTE);
		if (notes && notes->d_buf &&
		    build_id_from_notes(notes->d_buf, notes->d_size, p.p_align, &image->build_id))
			return;
	}
	for (size_t i = 1; i < image->n_sections; i++) {
		const uint8_t *notes;

		if (image->sections[i].type != SHT_NOTE ||
		    image->sections[i].size > MAX_NOTE_BYTES - n_notes)
			continue;
		n_notes += image->sections[i].size;
		notes = elf_image_bytes(image, i, &n);
		if (notes && build_id_from_notes(notes, n, 4, &image->build_id))
			return;
	}
}

/* Of an image with its Elf; what it owns goes with it. */
static int read_image(struct elf_image **ret, struct elf_image *taken)
{
	_cleanup_(elf_image_freep) struct elf_image *image = taken;
	GElf_Ehdr header;
	int r;

	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &header))
		return -ENOEXEC;
	if (!header_is_sane(&header))
		return -ENOEXEC;
	image->machine = header.e_machine;
	r = read_loads(image);
	if (r < 0)
		return r;
	r = read_sections(image);
	if (r < 0)
		return r;
	read_build_id(image);
	*ret = TAKE_PTR(image);
	return 0;
}

int elf_image_open(struct elf_image **ret, int fd)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	uint8_t header[sizeof(Elf64_Ehdr)];
	ssize_t n;
	int r;

	if (!image) {
		close(fd);
		return -ENOMEM;
	}
	image->fd = fd;
	n = pread(fd, header, sizeof(header), 0);
	r = n < 0 ? -errno : check_header(header, (size_t)n);
	if (r < 0) {
		elf_image_free(image);
		return r;
	}
	elf_version(EV_CURRENT);
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	return read_image(ret, image);
}

struct elf_image *elf_image_free(struct elf_image *image)
{
	if (!image)
		return NULL;
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->memory);
	free(image->sections);
	free(image->loads.rows);
	free(image);
	return NULL;
}

size_t elf_image_find_name(const struct elf_image *image, const char *name)
{
	for (size_t i = 1; i < image->n_sections; i++)
		if (!strcmp(image->sections[i].name, name))
			return i;
	return 0;
}

size_t elf_image_find_type(const struct elf_image *image, uint32_t type)
{
	for (size_t i = 1; i < image->n_sections; i++)
		if (image->sections[i].type == type)
			return i;
	return 0;
}

/* Many sections may share the same bytes, so their sum is limited too. */
static bool may_read(struct elf_image *image, size_t section)
{
	const struct elf_section *s = &image->sections[section];

	if (!section || s->type == SHT_NOBITS || !s->size || s->size > MAX_SECTION_BYTES ||
	    s->size > MAX_IMAGE_BYTES - image->n_read)
		return false;
	image->n_read += s->size;
	return true;
}

static Elf_Data *section_data(struct elf_image *image, size_t section,
			      Elf_Data *(*get)(Elf_Scn *, Elf_Data *))
{
	Elf_Data *data;

	if (!may_read(image, section))
		return NULL;
	data = get(elf_getscn(image->elf, section), NULL);
	return data && data->d_buf ? data : NULL;
}

bool elf_image_swap(struct elf_image *image, size_t a, size_t b)
{
	Elf_Scn *first = elf_getscn(image->elf, a), *second = elf_getscn(image->elf, b);
	struct elf_section section = image->sections[a];
	GElf_Shdr x, y;

	if (!gelf_getshdr(first, &x) || !gelf_getshdr(second, &y) || !gelf_update_shdr(first, &y))
		return false;
	if (!gelf_update_shdr(second, &x)) {
		gelf_update_shdr(first, &x);
		return false;
	}
	image->sections[a] = image->sections[b];
	image->sections[b] = section;
	return true;
}

const uint8_t *elf_image_bytes(struct elf_image *image, size_t section, size_t *ret_n)
{
	const Elf_Data *data = section_data(image, section, elf_rawdata);

	if (!data)
		return NULL;
	*ret_n = data->d_size;
	return data->d_buf;
}

int elf_image_read(const struct elf_image *image, uint64_t offset, void *to, size_t n)
{
	size_t done = 0;

	if (image->memory) {
		if (offset > image->n_memory || n > image->n_memory - offset)
			return -ENOENT;
		memcpy(to, image->memory + offset, n);
		return 0;
	}
	while (done < n) {
		ssize_t more =
			pread(image->fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (more <= 0)
			return -ENOENT;
		done += (size_t)more;
	}
	return 0;
}

int elf_image_copy_strings(struct elf_image *image, size_t section, char **ret, size_t *ret_n)
{
	_cleanup_free_ char *strings = NULL;
	uint64_t n = image->sections[section].size;
	int r;

	if (!section || image->sections[section].type != SHT_STRTAB || !may_read(image, section))
		return -ENOENT;
	strings = malloc(n + 1);
	if (!strings)
		return -ENOMEM;
	/* they are the largest part, so they are read directly, not copied from libelf */
	r = elf_image_read(image, image->sections[section].offset, strings, n);
	if (r < 0)
		return r;
	strings[n] = 0;
	*ret = TAKE_PTR(strings);
	*ret_n = n;
	return 0;
}

static size_t n_entries(struct elf_image *image, const Elf_Data *data, Elf_Type type)
{
	size_t size = gelf_fsize(image->elf, type, 1, EV_CURRENT);

	return size ? MIN(data->d_size / size, (size_t)MAX_ENTRIES) : 0;
}

int elf_image_for_each_symbol(struct elf_image *image, size_t section, elf_symbol_handler handler,
			      void *userdata)
{
	Elf_Data *data = section_data(image, section, elf_getdata);
	size_t n = data && data->d_type == ELF_T_SYM ? n_entries(image, data, ELF_T_SYM) : 0;

	for (size_t i = 0; i < n; i++) {
		struct elf_symbol symbol;
		GElf_Sym s;
		int r;

		if (!gelf_getsym(data, (int)i, &s))
			break;
		symbol = (struct elf_symbol){
			.address = s.st_value,
			.size = s.st_size,
			.name = s.st_name,
			.type = GELF_ST_TYPE(s.st_info),
			.bind = GELF_ST_BIND(s.st_info),
			.defined = s.st_shndx != SHN_UNDEF &&
				   (s.st_shndx < SHN_LORESERVE || s.st_shndx == SHN_XINDEX),
		};
		r = handler(&symbol, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

static int handle_reloc(const GElf_Rela *from, elf_reloc_handler handler, void *userdata)
{
	const struct elf_reloc reloc = {
		.address = from->r_offset,
		.addend = (uint64_t)from->r_addend,
		.symbol = GELF_R_SYM(from->r_info),
		.type = (uint32_t)GELF_R_TYPE(from->r_info),
	};

	return handler(&reloc, userdata);
}

/* Those of 64 bits in pieces: a large library has megabytes of them, which libelf would keep. */
static int for_each_rela64(struct elf_image *image, const struct elf_section *section,
			   elf_reloc_handler handler, void *userdata)
{
	unsigned int encoding = (unsigned char)elf_getident(image->elf, NULL)[EI_DATA];
	size_t n = MIN(section->size / sizeof(Elf64_Rela), (uint64_t)MAX_ENTRIES), n_piece;
	Elf64_Rela rows[PIECE_ENTRIES];
	int r = 0;

	for (size_t at = 0; at < n && r >= 0; at += n_piece) {
		Elf_Data piece = { .d_buf = rows, .d_type = ELF_T_RELA, .d_version = EV_CURRENT };

		n_piece = MIN(n - at, ARRAY_SIZE(rows));
		piece.d_size = n_piece * sizeof(*rows);
		if (elf_image_read(image, section->offset + at * sizeof(*rows), rows,
				   piece.d_size) < 0 ||
		    !elf64_xlatetom(&piece, &piece, encoding))
			return 0;
		for (size_t i = 0; i < n_piece && r >= 0; i++)
			r = handle_reloc(&rows[i], handler, userdata);
	}
	return MIN(r, 0);
}

int elf_image_for_each_reloc(struct elf_image *image, size_t section, elf_reloc_handler handler,
			     void *userdata)
{
	bool rela = image->sections[section].type == SHT_RELA;
	Elf_Data *data;
	size_t n = 0;
	int r = 0;

	if (rela && gelf_getclass(image->elf) == ELFCLASS64)
		return may_read(image, section) ? for_each_rela64(image, &image->sections[section],
								  handler, userdata) :
						  0;
	data = section_data(image, section, elf_getdata);
	if (data && data->d_type == (rela ? ELF_T_RELA : ELF_T_REL))
		n = n_entries(image, data, data->d_type);
	for (size_t i = 0; i < n && r >= 0; i++) {
		GElf_Rela a = { 0 };
		GElf_Rel b;

		if (rela ? !gelf_getrela(data, (int)i, &a) : !gelf_getrel(data, (int)i, &b))
			break;
		if (!rela)
			a = (GElf_Rela){ .r_offset = b.r_offset, .r_info = b.r_info };
		r = handle_reloc(&a, handler, userdata);
	}
	return MIN(r, 0);
}

bool elf_image_debuglink(struct elf_image *image, const char **ret_name, uint32_t *ret_crc)
{
	const uint8_t *bytes;
	size_t n, length;

	bytes = elf_image_bytes(image, elf_image_find_name(image, ".gnu_debuglink"), &n);
	if (!bytes)
		return false;
	length = strnlen((const char *)bytes, n);
	/* the name, padded to four bytes, then the checksum */
	if (!length || ((length + 4) & ~3UL) + 4 > n || memchr(bytes, '/', length))
		return false;
	memcpy(ret_crc, bytes + ((length + 4) & ~3UL), sizeof(*ret_crc));
	*ret_name = (const char *)bytes;
	return true;
}

/* *@ret takes @memory, also when it fails. */
static int open_memory(struct elf_image **ret, uint8_t *memory, size_t n)
{
	struct elf_image *image;
	int r = check_header(memory, n);

	image = r < 0 ? NULL : calloc(1, sizeof(*image));
	if (!image) {
		free(memory);
		return r < 0 ? r : -ENOMEM;
	}
	image->fd = -1;
	image->memory = memory;
	image->n_memory = n;
	elf_version(EV_CURRENT);
	image->elf = elf_memory((char *)memory, n);
	return read_image(ret, image);
}

int elf_image_open_memory(struct elf_image **ret, const void *bytes, size_t n)
{
	uint8_t *memory = malloc(n);

	if (!memory)
		return -ENOMEM;
	memcpy(memory, bytes, n);
	return open_memory(ret, memory, n);
}

int elf_image_open_packed(struct elf_image **ret, struct elf_image *image)
{
	const uint8_t *packed;
	uint8_t *memory;
	size_t n, n_memory;
	int r;

	packed = elf_image_bytes(image, elf_image_find_name(image, ".gnu_debugdata"), &n);
	if (!packed)
		return -ENOENT;
	r = xz_unpack(packed, n, MAX_PACKED_BYTES, &memory, &n_memory);
	return r < 0 ? r : open_memory(ret, memory, n_memory);
}
