/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/watchdog/liveness.h"

#include "common/util/macro.h"

bool liveness_check(struct liveness *liveness, const struct liveness_view *view,
		    uint64_t interval_us)
{
	uint64_t passed_us = view->now_us - MIN(view->now_us, liveness->checked_us);
	bool turned = view->turned_us != liveness->turned_us;

	if (!view->runs || turned || liveness->checked_us == 0)
		liveness->awake_us = 0;
	else
		liveness->awake_us += MIN(passed_us, 2 * interval_us);
	liveness->checked_us = view->now_us;
	liveness->turned_us = view->turned_us;
	liveness->stuck = liveness->awake_us >= LIVENESS_PATIENCE_US;
	return !liveness->stuck;
}
