// SPDX-License-Identifier: LGPL-2.1-or-later
// throwing N: virtual calls, and exceptions that pass frames with destructors, are caught by their
// type, and are thrown again. Sampled as "sampled" where nothing is thrown, as "throwing" where
// something is.
#include <memory>
#include <stdexcept>
#include <string>

#include "sampled.h"
#include "work.h"

namespace
{

volatile uint32_t destroyed;

struct guard {
	uint32_t value;
	_noinline_ explicit guard(uint32_t v) : value(v)
	{
	}
	_noinline_ ~guard()
	{
		destroyed = destroyed + value;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual uint32_t area(uint32_t a) const = 0;
};

struct square : shape {
	_noinline_ uint32_t area(uint32_t a) const override
	{
		return a * a;
	}
};

struct pair : shape {
	std::unique_ptr<shape> first, second;
	pair(shape *a, shape *b) : first(a), second(b)
	{
	}
	_noinline_ uint32_t area(uint32_t a) const override
	{
		guard g(a);
		return first->area(a) + second->area(a + 1) + g.value;
	}
};

struct failing : shape {
	_noinline_ uint32_t area(uint32_t a) const override
	{
		guard g(a);
		if (a % 2)
			throw std::runtime_error("odd");
		throw a;
	}
};

_noinline_ uint32_t pass(const shape &s, unsigned depth, uint32_t a)
{
	guard g(depth);
	if (depth == 0)
		return s.area(a);
	return pass(s, depth - 1, a) + g.value;
}

_noinline_ uint32_t again(const shape &s, uint32_t a)
{
	try {
		return pass(s, 3, a);
	} catch (const std::exception &) {
		guard g(a);
		throw;
	}
}

_noinline_ uint32_t attempt(const shape &s, uint32_t a)
{
	try {
		return again(s, a);
	} catch (const std::exception &e) {
		return static_cast<uint32_t>(e.what()[0]) + a;
	} catch (uint32_t b) {
		return b;
	}
}

} // namespace

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 1);
	pair shapes(new pair(new square, new square), new square);
	failing bad;
	uint32_t state = attempt(bad, 1) + attempt(shapes, 1); // fills what is cached

	for (unsigned i = 0; i < n; i++) {
		sample_as("sampled");
		state += attempt(shapes, state);
		sample_as("throwing");
		state += attempt(bad, i) + attempt(bad, i + 1);
		sample_no_more();
	}
	return state == 0;
}
