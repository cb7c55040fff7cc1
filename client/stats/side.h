/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two sides of a comparison. */
#pragma once

enum side {
	SIDE_OLD,
	SIDE_NEW,
	N_SIDES,
};
