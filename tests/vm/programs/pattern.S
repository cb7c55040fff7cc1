/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branches of a known pattern, for as long as it is let run: no other instruction of the program branches,
 * and the kernel is entered once only, to sleep, so that rows of whoever ran it before are gone.
 *
 * A round is two calls of work() and takes 16 branches, which divides any number of rows there may be
 * but 8: every full snapshot has the same shares. Those that are not always taken are named branch_N_M,
 * taken N times in M; an indirect one goes to each of its targets as often.
 */
	.text

	.globl _start
	.type _start, @function
_start:
	mov $35, %eax			/* nanosleep */
	lea moment(%rip), %rdi
	xor %esi, %esi
	syscall
	xor %ebx, %ebx
	lea targets(%rip), %r12
	.size _start, . - _start

	.globl rounds
	.type rounds, @function
rounds:
	inc %ebx
	call work
	jmp rounds
	.size rounds, . - rounds

	.type work, @function
work:
	mov %ebx, %eax
	and $1, %eax
	.globl branch_1_2_even
branch_1_2_even:
	jz 1f
	nop
1:	test $1, %bl
	.globl branch_1_2_odd
branch_1_2_odd:
	jnz 2f
	nop
2:	call *(%r12, %rax, 8)
	call leaf
	ret
	.size work, . - work

	.globl target_one
	.type target_one, @function
target_one:
	ret
	.size target_one, . - target_one

	.globl target_two
	.type target_two, @function
target_two:
	nop
	ret
	.size target_two, . - target_two

	.type leaf, @function
leaf:
	nop
	ret
	.size leaf, . - leaf

	.section .rodata
moment:
	.quad 0, 1000000
	.section .data.rel.ro, "aw"
targets:
	.quad target_one, target_two

	.section .note.GNU-stack, "", @progbits
