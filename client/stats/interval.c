/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stats/interval.h"

#include <math.h>

#define Z_95 1.959964

struct interval interval_wilson(double share, double n, double z)
{
	double scale, middle, half;

	if (n <= 0)
		return (struct interval){ 0, 1 };
	scale = 1 + z * z / n;
	middle = (share + z * z / (2 * n)) / scale;
	half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale;
	return (struct interval){
		fmax(0, fmin(share, middle - half)),
		fmin(1, fmax(share, middle + half)),
	};
}

struct interval interval_of_estimate(uint64_t k, uint64_t n, double unit)
{
	return interval_wilson(n > 0 ? (double)k / (double)n : 0, (double)n / unit, Z_95);
}
