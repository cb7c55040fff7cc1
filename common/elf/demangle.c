/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Demangling by libiberty: C++ and both Rust manglings.
 *
 * Names come from files that anybody can write. A C++ name of 400 bytes can stand for gigabytes of
 * text, because each substitution may double the one before it. So the text is taken piece by
 * piece, and longjmp() leaves the demangler once the text exceeds DEMANGLE_MAX. That leaks a few
 * bytes of a Rust identifier in Punycode at most; all other memory of the demangler is on the
 * stack.
 *
 * Such names are shown as the linker has them, and so are names of more than some 1,000 components,
 * which libiberty refuses. The text is safe for terminals and JSON: UTF-8 without control
 * characters.
 */
#include "common/elf/demangle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "common/util/printable.h"

struct piecewise {
	jmp_buf too_long;
	size_t n;
	char text[DEMANGLE_MAX + 1];
};

static void on_piece(const char *piece, size_t n, void *userdata)
{
	struct piecewise *out = userdata;

	if (n > DEMANGLE_MAX - out->n)
		longjmp(out->too_long, 1);
	memcpy(out->text + out->n, piece, n);
	out->n += n;
	out->text[out->n] = 0;
}

/* True and the text in @out, if @name is a mangled name. */
static bool demangle_text(struct piecewise *out, const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	/* legacy Rust names are C++ names as well, so they go first */
	if (strncmp(name, "_ZN", 3) && strncmp(name, "_R", 2) && strncmp(name, "_Z", 2) &&
	    strncmp(name, "_GLOBAL_", 8))
		return false;
	if (setjmp(out->too_long))
		return false;
	out->n = 0;
	if (rust_demangle_callback(name, options, on_piece, out) && out->n)
		return true;
	out->n = 0;
	return cplus_demangle_v3_callback(name, options, on_piece, out) && out->n;
}

/* foo@@GLIBC_2.2.5 and foo@GLIBC_2.2.5 are both foo. */
static void cut_version(char *name)
{
	char *at = *name ? strchr(name + 1, '@') : NULL;

	if (at)
		*at = '\0';
}

int demangle(char **ret, const char *name, size_t n, const char *suffix)
{
	struct piecewise out;
	char raw[DEMANGLE_MAX + 1], *text;
	const char *best;
	size_t n_best;

	n = strnlen(name, n < DEMANGLE_MAX ? n : DEMANGLE_MAX);
	memcpy(raw, name, n);
	raw[n] = '\0';
	cut_version(raw);
	best = demangle_text(&out, raw) ? out.text : raw;
	n_best = strlen(best);
	text = malloc(n_best + strlen(suffix) + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, best, n_best);
	memcpy(text + n_best, suffix, strlen(suffix) + 1);
	printable_make(text);
	*ret = text;
	return 0;
}
