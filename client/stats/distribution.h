/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The few distributions of chance that intervals and tests need; by the formulas of Abramowitz and
 * Stegun, Handbook of Mathematical Functions, 1964, which are named by their numbers.
 */
#pragma once

/* The regularised incomplete beta function I_x(a, b); 0 <= x <= 1, a and b > 0. */
double distribution_beta(double a, double b, double x);

/* The chance that Student's t with @freedom degrees is as far from 0 as @t; INFINITY: the normal
 * one. */
double distribution_student(double t, double freedom);

/* The t that has a chance of 0.05; @freedom at least 5. To three digits. */
double distribution_student_limit(double freedom);

/* How far from 0 the normal one is with a chance of @chance. */
double distribution_normal_limit(double chance);

/* Of @n draws, each with a chance of @part, @k or as unlikely a number the other way; neither need
 * be whole. */
double distribution_binomial(double k, double n, double part);
