/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the unwind table of an object from its call frame information: .eh_frame, which stripped
 * files have as well, or .debug_frame.
 */
#pragma once

#include <stdint.h>

#include "common/elf/image.h"
#include "common/unwind/table.h"

/*
 * Of an image, at offsets of the file whose segments are @loads: those of the image itself, or if
 * it is a debug file, those of the file that it belongs to. 0 and *@ret, for unwind_table_done();
 * -ENODATA if it has no such information, needs too much room, or is of another machine; -ETIME if
 * it needs too much CPU time, which a virtual CPU may just have lost to others; or -ENOMEM. Code
 * whose information is malformed has no rule.
 */
int unwind_rows_read(struct elf_image *image, const struct loads *loads, struct unwind_table *ret);
