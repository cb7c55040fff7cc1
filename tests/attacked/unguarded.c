/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No sandbox: what the attacks do then shows that the tests would see it. */
#include "daemon/parser/sandbox.h"

int __wrap_sandbox_limit(const char **ret_what);
int __wrap_sandbox_close(void);

int __wrap_sandbox_limit(const char **ret_what)
{
	return 0;
}

int __wrap_sandbox_close(void)
{
	return 0;
}
