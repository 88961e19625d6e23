// The one table of attribute names.
#include "model/attribute.hpp"

#include <array>
#include <charconv>

#include "model/find.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 31> kNames = {
    "packages",
    "NUMA nodes",
    "physical cores",
    "logical CPUs",
    "SMT",
    "threads pinned to",
    "implementer-part",
    "family-model-stepping",
    "virtual machine",
    "this build",
    "AMX",
    "threads",
    "cgroup CPU quota",
    "frequency governor",
    "huge pages",
    "compute capability",
    "CUDA runtime",
    "memory bus",
    "ECC",
    "PCI address",
    "UUID",
    "MIG mode",
    "PCIe link",
    "NVLink",
    "power limit",
    "host name",
    "driver",
    "highest core clock",
    "memory clock",
    "system",
    "roofline",
};
static_assert(kNames.size() == static_cast<std::size_t>(AttributeKey::version) + 1);

}  // namespace

std::string_view name_of(AttributeKey key) { return spell(kNames, key); }
std::optional<AttributeKey> parse_attribute_key(std::string_view name) { return unspell<AttributeKey>(kNames, name); }

const std::string* find_attribute(std::span<const Attribute> attributes, std::string_view name) {
  const Attribute* const found = find_by(attributes, &Attribute::name, name);
  return found == nullptr ? nullptr : &found->value;
}

const std::string* find_attribute(std::span<const Attribute> attributes, AttributeKey key) {
  return find_attribute(attributes, name_of(key));
}

std::optional<double> number_of(std::span<const Attribute> attributes, AttributeKey key) {
  const std::string* text = find_attribute(attributes, key);
  double value = 0;
  if (text == nullptr) return std::nullopt;
  const char* const end = text->data() + text->size();
  return std::from_chars(text->data(), end, value).ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace roofline
