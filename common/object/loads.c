/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/object/loads.h"

#include "common/util/macro.h"

/* Programs linked below this address are position-independent. */
#define LOWEST_FIXED 0x10000

#define PAGE_BYTES 4096 /* the smallest there is, which linkers align code to */

/* Segments may share bytes of the file (data that follows code in one page): code wins. */
bool loads_address(const struct loads *loads, uint64_t offset, uint64_t *ret)
{
	const struct load *found = NULL;

	for (size_t i = 0; i < loads->n; i++) {
		const struct load *l = &loads->rows[i];

		if (offset >= l->offset && offset - l->offset < l->size)
			found = found && !l->executable ? found : l;
	}
	if (!found)
		return false;
	*ret = found->address + (offset - found->offset);
	return true;
}

const struct load *loads_find(const struct loads *loads, uint64_t address)
{
	for (size_t i = 0; i < loads->n; i++) {
		const struct load *l = &loads->rows[i];

		if (address >= l->address && address - l->address < l->size)
			return l;
	}
	return NULL;
}

bool loads_offset(const struct loads *loads, uint64_t address, uint64_t *ret)
{
	const struct load *l = loads_find(loads, address);

	if (!l)
		return false;
	*ret = l->offset + (address - l->address);
	return true;
}

void loads_fixed_range(const struct loads *loads, uint64_t *ret_low, uint64_t *ret_high)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < loads->n; i++) {
		low = MIN(low, loads->rows[i].address);
		high = MAX(high, loads->rows[i].address + loads->rows[i].memory_size);
	}
	*ret_low = low < LOWEST_FIXED || low > high ? 0 : low;
	*ret_high = *ret_low ? high : 0;
}

bool loads_code_start(const struct loads *loads, uint64_t *ret)
{
	for (size_t i = 0; i < loads->n; i++)
		if (loads->rows[i].executable) {
			*ret = loads->rows[i].address & ~(uint64_t)(PAGE_BYTES - 1);
			return true;
		}
	return false;
}

bool loads_have_code(const struct loads *loads)
{
	for (size_t i = 0; i < loads->n; i++)
		if (loads->rows[i].executable)
			return true;
	return false;
}
