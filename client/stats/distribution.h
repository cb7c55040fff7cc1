/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probability distributions that intervals and tests need, by the formulas of Abramowitz and
 * Stegun, Handbook of Mathematical Functions, 1964. Comments name a formula by its number.
 */
#pragma once

/* The regularised incomplete beta function I_x(a, b); 0 <= x <= 1, a and b > 0. */
double distribution_beta(double a, double b, double x);

/* The two-sided p value of Student's @t with @freedom degrees; INFINITY: of the normal one. */
double distribution_student(double t, double freedom);

/* The t with a p value of 0.05, to three digits; @freedom is at least 5. */
double distribution_student_limit(double freedom);

/* The normal variable with the two-sided p value @p_value. */
double distribution_normal_limit(double p_value);

/*
 * The two-sided p value of @k successes in @n draws, each with the probability @share. @k and @n
 * need not be whole.
 */
double distribution_binomial(double k, double n, double share);
