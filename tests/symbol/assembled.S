/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What assemblers are told, or not, of their functions. */
	.text
	.globl	assembled
	.type	assembled, @function
assembled:
	nop
local_loop:
	nop
	call	label_function
	ret
	.p2align 4

	.globl	label_function
label_function:
	nop
	xorl	%eax, %eax
	ret
	.p2align 4

	.globl	sized_outer
	.type	sized_outer, @function
sized_outer:
	nop
	.type	sized_inner, @function
sized_inner:
	nop
	nop
	.size	sized_inner, . - sized_inner
	nop
	ret
	.size	sized_outer, . - sized_outer
	.p2align 4

	.section .note.GNU-stack, "", @progbits
