/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of branchctl, by number. */
#pragma once

enum command_id {
	COMMAND_STATUS,
	COMMAND_WINDOWS,
	COMMAND_TOP,
	COMMAND_DIFF,
	COMMAND_ANNOTATE,
	COMMAND_DUMP,
	COMMAND_RUN,
	COMMAND_EXPORT,
	COMMAND_FLAME,
	COMMAND_HISTORY,
	COMMAND_MARK,
	N_COMMANDS,
};
