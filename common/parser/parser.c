/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/parser/parser.h"

#include <stdlib.h>

void parser_table_done(struct parser_table *table)
{
	free(table->memory);
}

void parser_lines_done(struct parser_lines *lines)
{
	free(lines->memory);
}

void parser_instructions_done(struct parser_instructions *instructions)
{
	free(instructions->memory);
}
