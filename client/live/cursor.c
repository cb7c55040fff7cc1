/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/cursor.h"

#include "client/term/screen.h"

#define CONTROL(c) ((c)&0x1f)

void live_cursor_clamp(struct live_cursor *cursor, size_t n_page, size_t n_lines)
{
	size_t most = n_lines > n_page ? n_lines - n_page : 0;

	cursor->line = MIN(cursor->line, n_lines > 0 ? n_lines - 1 : 0);
	if (cursor->line < cursor->scroll)
		cursor->scroll = cursor->line;
	else if (n_page > 0 && cursor->line >= cursor->scroll + n_page)
		cursor->scroll = cursor->line - n_page + 1;
	cursor->scroll = MIN(cursor->scroll, most);
}

static void move_page(struct live_cursor *cursor, bool down, size_t n_page)
{
	if (down) {
		cursor->line += n_page;
		cursor->scroll += n_page;
		return;
	}
	cursor->line -= MIN(cursor->line, n_page);
	cursor->scroll -= MIN(cursor->scroll, n_page);
}

bool live_cursor_press(struct live_cursor *cursor, int key, size_t n_page, size_t n_lines)
{
	switch (key) {
	case SCREEN_UP:
	case CONTROL('P'):
		cursor->line -= cursor->line > 0;
		break;
	case SCREEN_DOWN:
	case CONTROL('N'):
		cursor->line++;
		break;
	case SCREEN_PAGE_UP:
	case CONTROL('B'):
		move_page(cursor, false, n_page);
		break;
	case SCREEN_PAGE_DOWN:
	case CONTROL('F'):
		move_page(cursor, true, n_page);
		break;
	case SCREEN_HOME:
	case 'g':
		cursor->line = cursor->scroll = 0;
		break;
	case SCREEN_END:
	case 'G':
		cursor->line = n_lines;
		break;
	default:
		return false;
	}
	cursor->identity = 0;
	cursor->placed = true;
	live_cursor_clamp(cursor, n_page, n_lines);
	return true;
}

void live_cursor_place(struct live_cursor *cursor, size_t line, size_t n_page)
{
	if (cursor->placed)
		return;
	cursor->placed = true;
	cursor->line = line;
	cursor->scroll = line < n_page ? 0 : line - n_page / 2;
}
