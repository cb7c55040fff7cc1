/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helpers of branchd: small processes, each with the least privileges for its job. */
#pragma once

enum helper_kind {
	HELPER_OPENER, /* opens files of other processes */
	HELPER_PARSER, /* reads them */
	HELPER_EVENTS, /* opens perf events, and loads the BPF programs */
	HELPER_KINDS,
};
