/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handlers N: signal handlers on the program's stack and on one of their own, one within another,
 * of a fault at the first instruction of a function, and one that is left by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sampled.h"
#include "work.h"

#define STACK_BYTES 65536

static sigjmp_buf out;
static volatile uint32_t n_handled;
static uint32_t word = 5;

/* Reads the word at @p with its first instruction, 2 bytes long: a fault there is stepped over. */
uint32_t read_at_once(const uint32_t *p);
__asm__(".text\n"
	".type read_at_once, @function\n"
	"read_at_once:\n"
	".cfi_startproc\n"
	"mov (%rdi), %eax\n"
	"ret\n"
	".cfi_endproc\n"
	".size read_at_once, .-read_at_once\n");

static _noinline_ uint32_t handle(uint32_t a)
{
	n_handled++;
	return a * 31 + 7;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	handle((uint32_t)sig);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static void on_inner(int sig)
{
	handle((uint32_t)sig);
}

static void on_outer(int sig)
{
	handle((uint32_t)sig);
	raise(SIGUSR2);
	handle((uint32_t)sig + 1);
}

static void on_leave(int sig)
{
	handle((uint32_t)sig);
	siglongjmp(out, 1);
}

static _noinline_ uint32_t fault(uint32_t a)
{
	return read_at_once(&word) + read_at_once(NULL) + a;
}

static _noinline_ uint32_t interrupted(uint32_t a)
{
	kill(getpid(), SIGUSR1);
	return handle(a) + fault(a);
}

static _noinline_ uint32_t left(uint32_t a)
{
	if (sigsetjmp(out, 1) == 0)
		kill(getpid(), SIGHUP);
	return handle(a);
}

static void set_handlers(int flags)
{
	struct sigaction action = { .sa_flags = flags };

	action.sa_handler = on_outer;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_inner;
	sigaction(SIGUSR2, &action, NULL);
	action.sa_handler = on_leave;
	sigaction(SIGHUP, &action, NULL);
	action.sa_sigaction = on_fault;
	action.sa_flags |= SA_SIGINFO;
	sigaction(SIGSEGV, &action, NULL);
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 1);
	stack_t stack = { .ss_size = STACK_BYTES };
	uint32_t state = 1;

	/* apart from all other memory */
	stack.ss_sp = mmap(NULL, 3 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED)
		return 2;
	stack.ss_sp = (char *)stack.ss_sp + STACK_BYTES;
	if (mprotect(stack.ss_sp, STACK_BYTES, PROT_READ | PROT_WRITE) < 0 ||
	    sigaltstack(&stack, NULL) < 0)
		return 2;
	for (unsigned i = 0; i < 2 * n; i++) {
		set_handlers(i % 2 ? SA_ONSTACK : 0);
		if (i < 2) { /* binds the functions of libc */
			state += interrupted(state) + left(state);
		}
		sample_as("sampled");
		state += interrupted(state) + left(state);
		sample_no_more();
	}
	return state == 0;
}
