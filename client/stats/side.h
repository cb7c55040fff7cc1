/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the two that are compared. */
#pragma once

enum side {
	SIDE_OLD,
	SIDE_NEW,
	N_SIDES,
};
