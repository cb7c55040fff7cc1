/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace shapes {
template <typename T> struct box {
	T a, b;
	__attribute__((noinline)) T area() const
	{
		return a * b;
	}
	T inlined_area() const
	{
		return a * b + area();
	}
};

namespace {
__attribute__((noinline)) double hidden(const box<double> &b)
{
	return b.inlined_area();
}
} // namespace

struct base {
	virtual ~base() = default;
	virtual int kind() const
	{
		return 1;
	}
};

struct derived : base {
	~derived() override
	{
		std::puts("gone");
	}
	int kind() const override
	{
		return 2;
	}
};
} // namespace shapes

template <typename F> __attribute__((noinline)) int apply(F f, int x)
{
	return f(x) + f(x + 1);
}

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> table;
	shapes::base *b = argc > 1 ? new shapes::base : new shapes::derived;
	auto twice = [&table](int x) {
		table[std::to_string(x)].push_back(2 * x);
		return (int)table.size();
	};
	int n = apply(twice, argc) + b->kind();

	delete b;
	return n + (int)shapes::hidden({ 1.0 * argc, 2.0 }) + (int)shapes::box<int>{ 2, argc }.area();
}
