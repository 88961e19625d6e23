// Look-up in short lists.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace roofline {

/// The first element for which `holds` is true, or null.
template <class List, class Holds>
auto* find_in(List& list, Holds holds) {
  const auto found = std::find_if(std::begin(list), std::end(list), holds);
  return found == std::end(list) ? nullptr : &*found;
}

/// The first element whose `member` equals `value`, or null.
template <class List, class Element, class Member, class Value>
auto* find_by(List& list, Member Element::*member, const Value& value) {
  return find_in(list, [&](const Element& element) { return element.*member == value; });
}

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

/// The value of a key in a list of pairs that keeps the order in which its keys came; added where it is new.
template <class Key, class Value>
Value& value_of_key(std::vector<std::pair<Key, Value>>& list, const Key& key) {
  auto* const known = find_by(list, &std::pair<Key, Value>::first, key);
  return known != nullptr ? known->second : list.emplace_back(key, Value()).second;
}

/// The entry with the largest value, the first of several; end() of an empty map.
template <class Map>
typename Map::const_iterator largest_entry(const Map& map) {
  return std::max_element(map.begin(), map.end(), [](auto& a, auto& b) { return a.second < b.second; });
}

/// The key of the largest value, the first of several; `none` for an empty map.
template <class Map>
typename Map::key_type key_of_largest(const Map& map, typename Map::key_type none = {}) {
  const auto most = largest_entry(map);
  return most == map.end() ? none : most->first;
}

}  // namespace roofline
