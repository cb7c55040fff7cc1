/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exceptions N: N times down some 40 virtual calls. Every third time an exception is thrown at the
 * bottom and caught 3 to 30 calls above; what lies between has destructors to run. */
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
__attribute__((noinline)) std::uint32_t work(std::uint32_t state, unsigned n)
{
	while (n-- > 0)
		state = state * 1103515245 + 12345;
	return state ^ state >> 16;
}

struct guard {
	std::uint32_t *state;
	std::string text;

	explicit guard(std::uint32_t *s) : state(s), text(std::to_string(*s))
	{
	}
	~guard()
	{
		*state = work(*state, 5) + text.size();
	}
};

struct node {
	std::unique_ptr<node> child;
	unsigned depth;

	virtual ~node() = default;
	virtual std::uint32_t visit(std::uint32_t state) = 0;
};

struct leaf : node {
	std::uint32_t visit(std::uint32_t state) override
	{
		state = work(state, 20);
		if (state % 3 == 0)
			throw std::runtime_error("the bottom");
		return state;
	}
};

struct plain : node {
	std::uint32_t visit(std::uint32_t state) override
	{
		state = work(state, 3 + state % 5);
		return work(child->visit(state), 4);
	}
};

struct guarded : node {
	std::uint32_t visit(std::uint32_t state) override
	{
		guard one(&state);

		state = work(state, 6);
		state += child->visit(state);
		return work(state, 2);
	}
};

struct catching : node {
	std::uint32_t visit(std::uint32_t state) override
	{
		guard one(&state);

		try {
			state += child->visit(state);
		} catch (const std::runtime_error &e) {
			state = work(state, 10) + std::string(e.what()).size();
			if (state % 2 == 0)
				throw;
		}
		return work(state, 2);
	}
};

std::unique_ptr<node> make(unsigned depth)
{
	std::unique_ptr<node> result;

	if (depth == 0)
		result = std::make_unique<leaf>();
	else if (depth % 11 == 0)
		result = std::make_unique<catching>();
	else if (depth % 3 == 0)
		result = std::make_unique<guarded>();
	else
		result = std::make_unique<plain>();
	result->depth = depth;
	if (depth > 0)
		result->child = make(depth - 1);
	return result;
}
} // namespace

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 100;
	std::vector<std::unique_ptr<node>> roots;
	std::uint32_t state = 1;

	for (unsigned depth = 30; depth <= 42; depth += 4)
		roots.push_back(make(depth));
	for (unsigned i = 0; i < n; i++) {
		try {
			state += roots[i % roots.size()]->visit(state);
		} catch (const std::exception &e) {
			state = work(state, 10);
		}
	}
	return state == 0;
}
