/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * code: the instructions of one address space, decoded once each.
 *
 * Pages of code are read before the first breakpoint goes into them and kept, so that decoding
 * never sees an int3 of ours. Instructions and runs are found by hash and stay where they are in
 * memory: others keep pointers to them.
 *
 * Limit: code that is written at run time without a change of mappings (a JIT) is decoded as it was
 * first seen.
 */
#include "tests/simulator/code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulator/decode.h"

#define PAGE_BYTES      4096UL
#define INSN_BYTES_MAX  15
#define BLOCK_INSNS_MAX 256
#define INT3            0xcc

struct page {
	uint64_t addr;
	bool dead;
	bool present;
	uint8_t bytes[PAGE_BYTES];
};

/* A hash from address to pointer; the pointed-to begins with its address. */
struct map {
	uint64_t **slots;
	size_t n_slots;
	size_t n_used;
};

struct code {
	int fd_mem;
	struct map insns;
	struct map blocks;
	struct map pages;
};

static uint64_t **map_slot(const struct map *m, uint64_t addr)
{
	size_t i = (addr * 0x9e3779b97f4a7c15ULL >> 20) & (m->n_slots - 1);

	while (m->slots[i] && *m->slots[i] != addr)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

static int map_grow(struct map *m)
{
	struct map grown = { .n_slots = m->n_slots ? m->n_slots * 2 : 1024, .n_used = m->n_used };
	size_t i;

	grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (i = 0; i < m->n_slots; i++)
		if (m->slots[i])
			*map_slot(&grown, *m->slots[i]) = m->slots[i];
	free(m->slots);
	*m = grown;
	return 0;
}

/* The item at addr, or a new one of `size` zeroed bytes with its address set; NULL if memory ran
 * out. */
static void *map_get(struct map *m, uint64_t addr, size_t size, bool *ret_new)
{
	uint64_t **slot;

	*ret_new = false;
	if (2 * m->n_used >= m->n_slots && map_grow(m) < 0)
		return NULL;
	slot = map_slot(m, addr);
	if (*slot)
		return *slot;
	*slot = calloc(1, size);
	if (!*slot)
		return NULL;
	**slot = addr;
	m->n_used++;
	*ret_new = true;
	return *slot;
}

static void map_done(struct map *m)
{
	size_t i;

	for (i = 0; i < m->n_slots; i++)
		free(m->slots[i]);
	free(m->slots);
}

int code_new(struct code **ret, int fd_mem)
{
	struct code *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd_mem = fd_mem;
	*ret = c;
	return 0;
}

struct code *code_free(struct code *c)
{
	if (!c)
		return NULL;
	map_done(&c->insns);
	map_done(&c->blocks);
	map_done(&c->pages);
	close(c->fd_mem);
	free(c);
	return NULL;
}

static const struct page *code_find_page(struct code *c, uint64_t addr)
{
	struct page *page;
	bool is_new;

	page = map_get(&c->pages, addr & ~(PAGE_BYTES - 1), sizeof(*page), &is_new);
	if (!page)
		return NULL;
	if (!page->present || page->dead) {
		page->present = pread(c->fd_mem, page->bytes, PAGE_BYTES, page->addr) == PAGE_BYTES;
		page->dead = false;
	}
	return page->present ? page : NULL;
}

/* Up to 15 bytes of code, fewer where the next page is not mapped. */
static size_t code_read(struct code *c, uint64_t addr, uint8_t *bytes)
{
	const struct page *page = code_find_page(c, addr);
	size_t offset = addr & (PAGE_BYTES - 1);
	size_t n = PAGE_BYTES - offset;

	if (!page)
		return 0;
	if (n >= INSN_BYTES_MAX) {
		memcpy(bytes, page->bytes + offset, INSN_BYTES_MAX);
		return INSN_BYTES_MAX;
	}
	memcpy(bytes, page->bytes + offset, n);
	page = code_find_page(c, addr + n);
	if (!page)
		return n;
	memcpy(bytes + n, page->bytes, INSN_BYTES_MAX - n);
	return INSN_BYTES_MAX;
}

struct insn *code_find_insn(struct code *c, uint64_t addr)
{
	uint8_t bytes[INSN_BYTES_MAX];
	struct insn *insn;
	bool is_new;
	size_t n;

	insn = map_get(&c->insns, addr, sizeof(*insn), &is_new);
	if (!insn)
		return NULL;
	if (!is_new && !insn->dead)
		return insn->length ? insn : NULL;
	*insn = (struct insn){ .addr = addr, .dead = true };
	n = code_read(c, addr, bytes);
	if (n == 0)
		return NULL;
	decode_insn(insn, bytes, n);
	insn->original = bytes[0];
	insn->counter = 1;
	insn->dead = false;
	return insn;
}

static bool block_walk(struct code *c, struct block *block)
{
	uint64_t addr = block->start;
	struct insn *insn;

	block->n_insns = 0;
	do {
		insn = code_find_insn(c, addr);
		if (!insn)
			return block->n_insns > 0;
		block->end = insn;
		block->n_insns++;
		addr = insn->next;
	} while (insn->kind == INSN_PLAIN && block->n_insns < BLOCK_INSNS_MAX);
	return true;
}

struct block *code_find_block(struct code *c, uint64_t addr)
{
	struct block *block;
	bool is_new;

	block = map_get(&c->blocks, addr, sizeof(*block), &is_new);
	if (!block)
		return NULL;
	if (is_new || block->dead)
		block->dead = !block_walk(c, block);
	return block->dead ? NULL : block;
}

static int code_write_byte(struct code *c, uint64_t addr, uint8_t byte)
{
	return pwrite(c->fd_mem, &byte, 1, addr) == 1 ? 0 : -EFAULT;
}

int code_patch(struct code *c, struct insn *insn)
{
	int r;

	if (insn->patched)
		return 0;
	r = code_write_byte(c, insn->addr, INT3);
	insn->patched = r >= 0;
	return r;
}

int code_unpatch(struct code *c, struct insn *insn)
{
	int r;

	if (!insn->patched)
		return 0;
	r = code_write_byte(c, insn->addr, insn->original);
	insn->patched = r < 0;
	return r;
}

int code_unpatch_copy(struct code *c, int fd_mem)
{
	const struct insn *insn;
	size_t i;

	for (i = 0; i < c->insns.n_slots; i++) {
		insn = (const struct insn *)c->insns.slots[i];
		if (insn && insn->patched && pwrite(fd_mem, &insn->original, 1, insn->addr) != 1)
			return -EFAULT;
	}
	return 0;
}

static bool in_range(uint64_t addr, uint64_t start, uint64_t end)
{
	return addr >= start && addr < end;
}

void code_unpatch_range(struct code *c, uint64_t start, uint64_t end)
{
	struct insn *insn;
	size_t i;

	for (i = 0; i < c->insns.n_slots; i++) {
		insn = (struct insn *)c->insns.slots[i];
		if (insn && in_range(insn->addr, start, end))
			code_unpatch(c, insn);
	}
}

static void code_forget_blocks(struct code *c, uint64_t start, uint64_t end)
{
	struct block *block;
	size_t i;

	for (i = 0; i < c->blocks.n_slots; i++) {
		block = (struct block *)c->blocks.slots[i];
		if (!block || block->dead)
			continue;
		if (in_range(block->start, start, end) || in_range(block->end->addr, start, end))
			block->dead = true;
	}
}

void code_forget(struct code *c, uint64_t start, uint64_t end)
{
	struct insn *insn;
	struct page *page;
	size_t i;

	code_forget_blocks(c, start, end);
	for (i = 0; i < c->insns.n_slots; i++) {
		insn = (struct insn *)c->insns.slots[i];
		if (insn && in_range(insn->addr, start, end)) {
			insn->dead = true;
			insn->patched = false;
		}
	}
	for (i = 0; i < c->pages.n_slots; i++) {
		page = (struct page *)c->pages.slots[i];
		if (page && in_range(page->addr, start, end))
			page->dead = true;
	}
}
