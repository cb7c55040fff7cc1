/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdw tells where registers are as DWARF expressions. Compilers use few forms of them, and the
 * assembly of PLT stubs, signal frames and the C library a few more. Other ones have no rule.
 */
#include "common/elf/unwind-cfi.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "common/util/cleanup.h"

#define MAX_ENTRIES (2U << 20)

struct unwind_cfi {
	uint16_t machine;
	Elf *elf;
	Dwarf *dwarf; /* of .debug_frame */
	Dwarf_CFI *cfi;
	Elf_Data section;
	uint64_t address; /* of the section */
	bool eh;          /* it is .eh_frame */
	bool searchable;  /* .eh_frame_hdr says where each entry is */
	Dwarf_Off cie;    /* the one that @encoding is of */
	uint8_t encoding; /* of addresses, DW_EH_PE_* */
};

/* Finds a section of call frame information; it may be empty in a debug file. */
static bool find_section(struct unwind_cfi *cfi, struct elf_image *image, const char *name)
{
	size_t section = elf_image_find_name(image, name), n;
	const uint8_t *bytes = elf_image_bytes(image, section, &n);

	if (!bytes)
		return false;
	cfi->address = image->sections[section].address;
	cfi->section = (Elf_Data){
		.d_buf = (void *)bytes,
		.d_type = ELF_T_BYTE,
		.d_version = EV_CURRENT,
		.d_size = n,
	};
	return true;
}

/* As all linkers write it: else libdw may not search its table. */
static bool is_search_table(const struct elf_image *image, size_t header, size_t frame)
{
	static const uint8_t head[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					DW_EH_PE_datarel | DW_EH_PE_sdata4 };
	const struct elf_section *section = &image->sections[header];
	uint8_t bytes[sizeof(head)];
	int32_t distance;

	return elf_image_read(image, section->offset, bytes, sizeof(bytes)) == 0 &&
	       !memcmp(bytes, head, sizeof(head)) &&
	       elf_image_read(image, section->offset + sizeof(head), &distance, sizeof(distance)) ==
		       0 &&
	       section->address + sizeof(head) + (uint64_t)(int64_t)distance ==
		       image->sections[frame].address;
}

/* Not the names of sections, for one: those have been read. */
static bool is_table(const struct elf_section *section)
{
	return section->type == SHT_PROGBITS || section->type == SHT_X86_64_UNWIND;
}

/*
 * libdw searches .eh_frame_hdr only if the section comes before .eh_frame, and else reads all
 * entries up to the one it needs. Some linkers put it behind: then the two change places, before
 * the bytes of either are read. Whether entries are searched for.
 */
static bool put_header_first(struct elf_image *image)
{
	size_t header = elf_image_find_name(image, ".eh_frame_hdr");
	size_t frame = elf_image_find_name(image, ".eh_frame");

	if (header == 0 || frame == 0 || !is_table(&image->sections[header]) ||
	    !is_table(&image->sections[frame]) || !is_search_table(image, header, frame))
		return false;
	return header < frame || elf_image_swap(image, frame, header);
}

static int open_section(struct unwind_cfi *cfi, struct elf_image *image)
{
	cfi->searchable = put_header_first(image);
	cfi->eh = find_section(cfi, image, ".eh_frame");
	if (cfi->eh) {
		cfi->cfi = dwarf_getcfi_elf(cfi->elf);
	} else if (find_section(cfi, image, ".debug_frame")) {
		cfi->dwarf = dwarf_begin_elf(cfi->elf, DWARF_C_READ, NULL);
		cfi->cfi = cfi->dwarf ? dwarf_getcfi(cfi->dwarf) : NULL;
	}
	return cfi->cfi ? 0 : -ENODATA;
}

int unwind_cfi_open(struct unwind_cfi **ret, struct elf_image *image)
{
	_cleanup_(unwind_cfi_freep) struct unwind_cfi *cfi = NULL;
	const char *ident = elf_getident(image->elf, NULL);
	int r;

	if (!ident || ident[EI_CLASS] != ELFCLASS64 ||
	    (image->machine != EM_X86_64 && image->machine != EM_AARCH64))
		return -ENODATA;
	cfi = calloc(1, sizeof(*cfi));
	if (!cfi)
		return -ENOMEM;
	cfi->machine = image->machine;
	cfi->elf = image->elf;
	cfi->cie = UINT64_MAX;
	r = open_section(cfi, image);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(cfi);
	return 0;
}

struct unwind_cfi *unwind_cfi_free(struct unwind_cfi *cfi)
{
	if (!cfi)
		return NULL;
	if (cfi->dwarf)
		dwarf_end(cfi->dwarf);
	else
		dwarf_cfi_end(cfi->cfi);
	free(cfi);
	return NULL;
}

void unwind_cfi_forget(struct unwind_cfi *cfi)
{
	Dwarf_CFI *again = cfi->eh && cfi->searchable ? dwarf_getcfi_elf(cfi->elf) : NULL;

	if (!again)
		return;
	dwarf_cfi_end(cfi->cfi);
	cfi->cfi = again;
}

/* The size of an address with an encoding; 0 for one of variable or unknown size. */
static size_t size_of_encoded(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* Reads a number of an encoding's size. */
static bool read_encoded(const uint8_t **at, const uint8_t *end, uint8_t encoding, uint64_t *ret)
{
	size_t size = size_of_encoded(encoding);
	uint64_t value = 0;

	if (!size || (size_t)(end - *at) < size)
		return false;
	/* images of another byte order are refused */
	memcpy(&value, *at, size);
	if ((encoding & 0x08) && size < sizeof(value))
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	*at += size;
	*ret = value;
	return true;
}

/* The encoding of addresses in the entries of a CIE; DW_EH_PE_omit if it is unknown. */
static uint8_t read_encoding(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data;
	const uint8_t *end = at ? at + cie->augmentation_data_size : NULL;

	if (cie->augmentation[0] != 'z')
		return cie->augmentation[0] ? DW_EH_PE_omit : DW_EH_PE_absptr;
	for (const char *what = cie->augmentation + 1; *what; what++) {
		size_t size;

		switch (*what) {
		case 'R':
			return at < end ? *at : DW_EH_PE_omit;
		case 'L':
			at++;
			break;
		case 'P':
			size = at < end ? size_of_encoded(*at) : 0;
			if (!size || (*at & 0x70) == DW_EH_PE_aligned)
				return DW_EH_PE_omit;
			at += 1 + size;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

/* The entries of one CIE mostly follow each other. */
static uint8_t get_encoding(struct unwind_cfi *cfi, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cfi->cie == offset)
		return cfi->encoding;
	cfi->cie = offset;
	cfi->encoding = DW_EH_PE_omit;
	if (dwarf_next_cfi((const unsigned char *)elf_getident(cfi->elf, NULL), &cfi->section,
			   cfi->eh, offset, &next, &entry) == 0 &&
	    dwarf_cfi_cie_p(&entry))
		cfi->encoding = read_encoding(&entry.cie);
	return cfi->encoding;
}

static bool read_entry(struct unwind_cfi *cfi, const Dwarf_FDE *fde, struct unwind_entry *ret)
{
	uint8_t encoding = get_encoding(cfi, fde->CIE_pointer);
	const uint8_t *at = fde->start, *bytes = cfi->section.d_buf;
	uint64_t start, size;

	if (encoding == DW_EH_PE_omit || (encoding & 0xf0 & ~DW_EH_PE_pcrel))
		return false;
	if (!read_encoded(&at, fde->end, encoding, &start) ||
	    !read_encoded(&at, fde->end, encoding & 0x07, &size))
		return false;
	if (encoding & DW_EH_PE_pcrel)
		start += cfi->address + (uint64_t)(fde->start - bytes);
	*ret = (struct unwind_entry){ start, start + size, (uint64_t)(fde->end - at) };
	return size && start <= UINT64_MAX - size;
}

int unwind_cfi_for_each(struct unwind_cfi *cfi, unwind_entry_handler handler, void *userdata)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(cfi->elf, NULL);
	Dwarf_Off offset = 0, next = 0;
	struct unwind_entry entry;
	size_t n_entries = 0;
	int r = 0;

	for (; r >= 0 && n_entries < MAX_ENTRIES; offset = next, n_entries++) {
		Dwarf_CFI_Entry raw;
		int found = dwarf_next_cfi(ident, &cfi->section, cfi->eh, offset, &next, &raw);

		if (found > 0 || next <= offset || next == (Dwarf_Off)-1)
			break;
		if (found == 0 && !dwarf_cfi_cie_p(&raw) && read_entry(cfi, &raw.fde, &entry))
			r = handler(&entry, userdata);
	}
	return r;
}

static bool fits(int64_t n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}

/* The register and the offset of `breg`. */
static bool read_base(const Dwarf_Op *op, uint8_t *ret_register, int32_t *ret_offset)
{
	bool x = op->atom == DW_OP_bregx;
	uint64_t number = x ? op->number : (uint64_t)op->atom - DW_OP_breg0;
	int64_t offset = (int64_t)(x ? op->number2 : op->number);

	if ((!x && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31)) ||
	    number >= UNWIND_N_REGISTERS || !fits(offset))
		return false;
	*ret_register = (uint8_t)number;
	*ret_offset = (int32_t)offset;
	return true;
}

static bool is_literal(const Dwarf_Op *op)
{
	return op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31;
}

/* sp + 8 + ((ip & 15) >= n) * 8, which linkers write for the stubs of a PLT. */
static bool read_plt(const Dwarf_Op *ops, size_t n, struct unwind_rule *ret)
{
	static const uint8_t form[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus };

	if (n != ARRAY_SIZE(form) || !is_literal(&ops[4]) || ops[1].number != 0 ||
	    ops[0].number != 8)
		return false;
	for (size_t i = 0; i < n; i++)
		if (form[i] && ops[i].atom != form[i])
			return false;
	ret->cfa = UNWIND_CFA_PLT;
	ret->cfa_register = ops[4].atom - DW_OP_lit0;
	ret->cfa_offset = 8;
	return true;
}

static bool read_cfa(const Dwarf_Op *ops, size_t n, bool signal, struct unwind_rule *ret)
{
	if (n == 0)
		return false;
	if (n == ARRAY_SIZE((uint8_t[9]){}))
		return !signal && read_plt(ops, n, ret);
	if (!read_base(&ops[0], &ret->cfa_register, &ret->cfa_offset))
		return false;
	if (n == 1 && !signal)
		ret->cfa = UNWIND_CFA_REGISTER;
	else if (n == 2 && ops[1].atom == DW_OP_deref)
		ret->cfa = signal ? UNWIND_CFA_INTERRUPTED : UNWIND_CFA_MEMORY;
	else
		return false;
	return true;
}

/* Where a register is saved: an enum unwind_saved and the offset. */
struct saved {
	uint8_t kind;
	int32_t offset;
};

static struct saved read_location(const Dwarf_Op *ops, size_t n, const struct unwind_rule *rule,
				  uint8_t fp)
{
	struct saved lost = { .kind = UNWIND_SAVED_LOST }, saved = lost;
	uint8_t base;

	if (ops[0].atom == DW_OP_call_frame_cfa) {
		if (n == 1)
			return (struct saved){ .kind = UNWIND_SAVED_CFA };
		if (n == 2 && ops[1].atom == DW_OP_plus_uconst && fits((int64_t)ops[1].number))
			return (struct saved){ UNWIND_SAVED_CFA, (int32_t)ops[1].number };
		ops++;
		n--;
	}
	if (n != 1 || !read_base(&ops[0], &base, &saved.offset))
		return lost;
	if (base == fp)
		saved.kind = UNWIND_SAVED_FP;
	else if (base == rule->cfa_register && rule->cfa != UNWIND_CFA_PLT)
		saved.kind = UNWIND_SAVED_REGISTER;
	return saved;
}

/* *@ret_undefined: the register cannot be restored, by intent. */
static struct saved read_register(Dwarf_Frame *frame, int number, const struct unwind_rule *rule,
				  uint8_t fp, bool *ret_undefined)
{
	struct saved saved = { .kind = UNWIND_SAVED_LOST };
	Dwarf_Op room[3], *ops;
	size_t n;

	*ret_undefined = false;
	if (dwarf_frame_register(frame, number, room, &ops, &n) < 0)
		return saved;
	if (n > 0)
		return read_location(ops, n, rule, fp);
	*ret_undefined = ops == room;
	saved.kind = ops ? UNWIND_SAVED_LOST : UNWIND_SAVED_NOT;
	return saved;
}

/* A register that functions preserve; libdw takes some of them for undefined where nothing is said.
 */
static struct saved read_preserved(Dwarf_Frame *frame, int number, const struct unwind_rule *rule,
				   uint8_t fp)
{
	struct saved saved;
	bool undefined;

	saved = read_register(frame, number, rule, fp, &undefined);
	if (undefined)
		saved.kind = UNWIND_SAVED_NOT;
	return saved;
}

/* The register that has the caller's value of register @number; -1 where none is said to. */
static int read_holder(Dwarf_Frame *frame, int number)
{
	Dwarf_Op room[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, number, room, &ops, &n) < 0 || n != 1 ||
	    ops[0].atom != DW_OP_regx || ops[0].number >= UNWIND_N_REGISTERS)
		return -1;
	return (int)ops[0].number;
}

static bool read_jump(Dwarf_Frame *frame, int ra, struct unwind_rule *ret)
{
	int sp = read_holder(frame, UNWIND_X86_SP), ip = read_holder(frame, ra);
	int fp = read_holder(frame, UNWIND_X86_FP);

	if (sp < 0 || ip < 0 || fp < 0)
		return false;
	*ret = (struct unwind_rule){
		.cfa = UNWIND_CFA_JUMP,
		.cfa_register = (uint8_t)sp,
		.fp_offset = fp,
		.ra_offset = ip,
	};
	return true;
}

/* False where no rule can say it. */
static bool read_rule(const struct unwind_cfi *cfi, Dwarf_Frame *frame, int ra, bool signal,
		      struct unwind_rule *ret)
{
	bool x86 = cfi->machine == EM_X86_64, undefined;
	uint8_t fp = x86 ? UNWIND_X86_FP : UNWIND_A64_FP;
	int holder = read_holder(frame, ra);
	struct saved saved;
	Dwarf_Op *ops;
	size_t n;

	if (signal && !x86) {
		ret->cfa = UNWIND_CFA_SIGNAL_A64;
		return true;
	}
	saved = read_register(frame, ra, ret, fp, &undefined);
	if (undefined) {
		ret->cfa = UNWIND_CFA_END;
		return true;
	}
	if (x86 && saved.kind == UNWIND_SAVED_LOST && read_jump(frame, ra, ret))
		return true;
	if (dwarf_frame_cfa(frame, &ops, &n) < 0 || !read_cfa(ops, n, signal, ret))
		return false;
	saved = read_register(frame, ra, ret, fp, &undefined);
	if (x86 && saved.kind == UNWIND_SAVED_LOST && holder >= 0)
		saved = (struct saved){ UNWIND_SAVED_HELD, holder };
	if (saved.kind == UNWIND_SAVED_LOST || (x86 && saved.kind == UNWIND_SAVED_NOT))
		return false;
	ret->ra = saved.kind;
	ret->ra_offset = saved.offset;
	saved = read_preserved(frame, fp, ret, fp);
	ret->fp = saved.kind;
	ret->fp_offset = saved.offset;
	if (x86) {
		saved = read_preserved(frame, UNWIND_X86_BX, ret, fp);
		ret->bx = saved.kind;
		ret->bx_offset = saved.offset;
	}
	return true;
}

int unwind_cfi_rule(struct unwind_cfi *cfi, uint64_t address, struct unwind_rule *ret,
		    uint64_t *ret_end)
{
	struct unwind_rule rule = {};
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal;
	int ra;

	*ret = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
	*ret_end = UINT64_MAX;
	if (dwarf_cfi_addrframe(cfi->cfi, address, &frame) < 0)
		return 0;
	ra = dwarf_frame_info(frame, &start, &end, &signal);
	if (ra >= 0) {
		*ret_end = end;
		if (read_rule(cfi, frame, ra, signal, &rule))
			*ret = rule;
	}
	free(frame);
	return 0;
}
