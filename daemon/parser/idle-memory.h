/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gives back memory that a parser does not need while it waits: what malloc holds free, and the
 * unchanged pages of its libraries, which the kernel maps anew at the next touch.
 * Most are capstone's: tables for all processors, and relocations that are read once.
 */
void idle_memory_release(void);
