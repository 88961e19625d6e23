// The format is a line of a Python dictionary before the bytes; three of its keys matter.
#include "user/npy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "host/files.hpp"
#include "model/error.hpp"
#include "op/tensor.hpp"

namespace roofline {
namespace {

/// What stands behind "'key':", up to where the next key begins.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  const bool tuple = header.starts_with('(');
  return header.substr(0, tuple ? header.find(')') : header.find(','));
}

/// Elements of "(2, 3": the product of its numbers; std::nullopt if one is none or the product is too large.
std::optional<std::int64_t> elements_of(std::string_view shape) {
  if (!shape.starts_with('(')) return std::nullopt;
  std::int64_t count = 1;
  for (std::size_t at = 1; at < shape.size();) {
    if (shape[at] == ' ' || shape[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(shape.data() + at, shape.data() + shape.size(), extent);
    if (error != std::errc() || extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
    at = static_cast<std::size_t>(end - shape.data());
  }
  return count;
}

template <typename T, typename Widen>
NpyArray widen(std::string_view bytes, std::size_t count, Widen to_double) {
  NpyArray array;
  std::vector<double>& values = array.values;
  values.resize(count);
  constexpr bool kWhole = std::is_integral_v<T> && sizeof(T) == sizeof(std::int64_t);
  if (kWhole) array.whole.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = to_double(value);
    if constexpr (kWhole) array.whole[i] = value;
  }
  return array;
}

template <typename T>
NpyArray widen(std::string_view bytes, std::size_t count) {
  return widen<T>(bytes, count, [](T value) { return static_cast<double>(value); });
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path, std::int64_t elements) {
  // Its header is short, and no element has more than eight bytes.
  const std::uint64_t most = (std::uint64_t{1} << 20) + 8 * static_cast<std::uint64_t>(elements);
  const std::string file = read_file(path, {most, "an array of so many elements"});
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}: {}", path.string(), why)); };
  if (file.size() < 12 || file.compare(0, 6, "\x93NUMPY") != 0) refuse("is not a .npy file");
  const bool first_version = file[6] == 1;
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
  const std::size_t begin = first_version ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8 | (first_version ? 0 : byte(10) << 16 | byte(11) << 24);
  if (file.size() - begin < length) refuse("ends within its header");
  const std::string_view header = std::string_view(file).substr(begin, length);
  const std::string_view fortran = value_of(header, "fortran_order");
  if (fortran == "True") refuse("is in Fortran order; save a C-contiguous array");
  if (fortran != "False") refuse("has no header as NumPy writes it");

  const std::string_view shape = value_of(header, "shape").substr(0, 60);
  if (elements_of(shape) != elements) {
    refuse(fmt::format("has the shape {}), and {} elements are needed", shape.empty() ? "(?" : shape, elements));
  }
  std::string_view type = value_of(header, "descr");
  if (type.size() < 4 || (type[0] != '\'' && type[0] != '"'))
    refuse(fmt::format("has elements of type {}, not numbers of one type", type.empty() ? "?" : type));
  type = type.substr(1, type.size() - 2);
  if (type.front() == '>') refuse("is big-endian");
  const std::string_view kind = type.substr(1);
  const std::string_view bytes = std::string_view(file).substr(begin + length);
  const auto n = static_cast<std::size_t>(elements);
  const bool known = kind.size() == 2 && std::string_view("fiub").find(kind[0]) != std::string_view::npos;
  const std::size_t size = known ? static_cast<std::size_t>(kind[1] - '0') : 0;
  if (size == 0 || size > 8) refuse(fmt::format("has elements of type {}", type));
  if (bytes.size() / size < n)
    refuse(fmt::format("is cut short: {} bytes of {} elements of type {}", bytes.size(), n, type));
  if (kind == "f8") return widen<double>(bytes, n);
  if (kind == "f4") return widen<float>(bytes, n);
  if (kind == "f2") return widen<std::uint16_t>(bytes, n, from_fp16);
  if (kind == "i1") return widen<std::int8_t>(bytes, n);
  if (kind == "i2") return widen<std::int16_t>(bytes, n);
  if (kind == "i4") return widen<std::int32_t>(bytes, n);
  if (kind == "i8") return widen<std::int64_t>(bytes, n);
  if (kind == "u1" || kind == "b1") return widen<std::uint8_t>(bytes, n);
  if (kind == "u2") return widen<std::uint16_t>(bytes, n);
  if (kind == "u4") return widen<std::uint32_t>(bytes, n);
  if (kind == "u8") return widen<std::uint64_t>(bytes, n);
  refuse(fmt::format("has elements of type {}", type));
  return {};
}

}  // namespace roofline
