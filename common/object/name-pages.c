/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/object/name-pages.h"

#include <stdlib.h>

#define PAGE_NAMES 64

struct name_pages {
	size_t n;
	char **pages[]; /* NULL until one of their strings is asked for */
};

struct name_pages *name_pages_new(size_t n)
{
	size_t n_pages = n / PAGE_NAMES + 1;
	struct name_pages *names = calloc(1, sizeof(*names) + n_pages * sizeof(*names->pages));

	if (names)
		names->n = n_pages;
	return names;
}

static void free_page(char **page)
{
	for (size_t i = 0; page && i < PAGE_NAMES; i++)
		free(page[i]);
	free(page);
}

struct name_pages *name_pages_free(struct name_pages *pages)
{
	if (!pages)
		return NULL;
	for (size_t i = 0; i < pages->n; i++)
		free_page(pages->pages[i]);
	free(pages);
	return NULL;
}

char **name_pages_at(struct name_pages *pages, size_t i)
{
	char ***page = &pages->pages[i / PAGE_NAMES];

	if (!*page)
		*page = calloc(PAGE_NAMES, sizeof(**page));
	return *page ? &(*page)[i % PAGE_NAMES] : NULL;
}
