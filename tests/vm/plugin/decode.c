/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/vm/plugin/decode.h"

#include <stdbool.h>

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: /* segments, among them hints and notrack */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf2: /* bnd */
	case 0xf3: /* rep ret */
		return true;
	default:
		return byte >= 0x40 && byte <= 0x4f; /* REX */
	}
}

/* ff /reg */
static enum lbr_kind decode_indirect(uint8_t modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return LBR_IND_CALL;
	case 4:
		return LBR_IND_JUMP;
	default:
		return LBR_NONE;
	}
}

enum lbr_kind decode_branch(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && is_prefix(bytes[i]))
		i++;
	if (i + 1 < n && bytes[i] == 0x0f)
		return (bytes[i + 1] & 0xf0) == 0x80 ? LBR_COND : LBR_NONE;
	if (i + 1 < n && bytes[i] == 0xff)
		return decode_indirect(bytes[i + 1]);
	if (i >= n)
		return LBR_NONE;
	switch (bytes[i]) {
	case 0x70 ... 0x7f: /* jcc */
	case 0xe0 ... 0xe3: /* loop, jrcxz */
		return LBR_COND;
	case 0xe9:
	case 0xeb:
		return LBR_JUMP;
	case 0xe8:
		return LBR_CALL;
	case 0xc2:
	case 0xc3:
		return LBR_RETURN;
	default:
		return LBR_NONE;
	}
}
