/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names N: C++ with templates, a map, a virtual call and exceptions; its demangled names are long.
 */
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace company::department::project
{
template <typename Key, typename Value> class registry_of_things
{
      public:
	virtual ~registry_of_things() = default;

	__attribute__((noinline)) virtual Value find_or_throw(const Key &key) const
	{
		auto it = things.find(key);
		if (it == things.end())
			throw std::out_of_range("no such thing");
		return it->second;
	}

	__attribute__((noinline)) void insert(const Key &key, Value value)
	{
		things[key] = std::move(value);
	}

      private:
	std::map<Key, Value> things;
};

template <typename Key>
__attribute__((noinline)) std::size_t count_what_is_found(
	const registry_of_things<Key, std::vector<std::pair<Key, std::uint64_t>>> &registry,
	const std::vector<Key> &keys)
{
	std::size_t n = 0;

	for (const auto &key : keys) {
		try {
			n += registry.find_or_throw(key).size();
		} catch (const std::out_of_range &) {
			n++;
		}
	}
	return n;
}
} // namespace company::department::project

int main(int argc, char **argv)
{
	using namespace company::department::project;
	unsigned n = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 100;
	registry_of_things<std::string, std::vector<std::pair<std::string, std::uint64_t>>>
		registry;
	std::vector<std::string> keys;

	for (unsigned i = 0; i < n; i++) {
		std::string key = "key number " + std::to_string(i * 7919 % 1009);
		if (i % 10)
			registry.insert(key, { { key, i }, { key, i + 1 } });
		keys.push_back(key);
	}
	return count_what_is_found(registry, keys) == 0;
}
