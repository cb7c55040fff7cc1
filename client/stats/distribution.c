/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stats/distribution.h"

#include <float.h>
#include <math.h>

#define MAX_TURNS 500
#define LARGE     1000 /* variance above which a binomial is practically normal */

/* Keeps a divisor away from 0. */
static double divisor(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* 26.5.8, by the method of Lentz: 1 / (1 + even or odd terms / (1 + ... */
static double beta_fraction(double a, double b, double x)
{
	double above = 1, below = 1 / divisor(1 - (a + b) * x / (a + 1)), value = below;

	for (int turn = 2; turn < MAX_TURNS; turn++) {
		double m = floor(turn / 2.0), term;

		if (turn % 2 == 0)
			term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		else
			term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		below = 1 / divisor(1 + term * below);
		above = divisor(1 + term / above);
		value *= above * below;
		if (fabs(above * below - 1) < 1e-13)
			break;
	}
	return value;
}

double distribution_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2)) /* where the fraction is quick */
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* 26.7.1 */
double distribution_student(double t, double freedom)
{
	if (isinf(freedom))
		return erfc(fabs(t) / M_SQRT2);
	return distribution_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* 26.7.5 with the numbers of the normal one's limit, 1.95996. */
double distribution_student_limit(double freedom)
{
	double f = 1 / freedom;

	return 1.959964 + f * (2.372271 + f * (2.822499 + f * (2.555846 + f * 1.589536)));
}

double distribution_normal_limit(double p_value)
{
	double low = 0, high = 40; /* above it the p value of a double is 0 */

	for (int turn = 0; turn < 60; turn++) {
		double middle = (low + high) / 2;

		if (distribution_student(middle, INFINITY) > p_value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* 26.5.24 */
double distribution_binomial(double k, double n, double share)
{
	double variance = n * share * (1 - share), at_least, at_most;

	if (variance > LARGE)
		return distribution_student((k - n * share) / sqrt(variance), INFINITY);
	at_least = k > 0 ? distribution_beta(k, n - k + 1, share) : 1;
	at_most = k < n ? distribution_beta(n - k, k + 1, 1 - share) : 1;
	return fmin(1, 2 * fmin(at_least, at_most));
}
