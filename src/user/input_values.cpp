// Counter-based generators: any thread computes any element, so that the values do not depend on the number of threads.
#include "user/input_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "op/host_parallel.hpp"
#include "op/tolerance.hpp"
#include "user/binding.hpp"
#include "user/npy.hpp"
#include "user/stored_elements.hpp"

namespace roofline {
namespace {

double uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(element_bits(seed, index) >> 11) * 0x1p-53;
}

/// Box and Muller.
double normal(std::uint64_t seed, std::uint64_t index) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

template <typename Value>
void store_all(HostTensor& tensor, Value value) {
  host_parallel(tensor.spec().elements, std::int64_t{1} << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) store_element(tensor, i, value(static_cast<std::uint64_t>(i)));
  });
}

bool is_whole_type(DType dtype) { return unit_roundoff(dtype) == 0; }

/// A whole number of [low, high], each with equal probability.
double whole_number(double low, double high, double share) {
  return std::min(high, low + std::floor(share * (high - low + 1)));
}

/// A bijection of [0, count): a Feistel network over the next power of 4, applied again until the result is in range.
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::uint64_t count) : seed_(seed), count_(count) {
    while (half_bits_ < 31 && (std::uint64_t{1} << (2 * half_bits_)) < count) ++half_bits_;
  }

  std::uint64_t operator()(std::uint64_t index) const {
    do {
      index = permuted(index);
    } while (index >= count_);
    return index;
  }

 private:
  std::uint64_t permuted(std::uint64_t index) const {
    constexpr std::uint64_t kRounds = 4;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = index >> half_bits_, right = index & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixes = element_bits(seed_, right * kRounds + round) & mask;
      left = std::exchange(right, left ^ mixes);
    }
    return left << half_bits_ | right;
  }

  std::uint64_t seed_;
  std::uint64_t count_;
  unsigned half_bits_ = 1;
};

/// A sparse matrix in CSR format whose non-zeros are spread at random: row pointers and column indices from one seed.
class SparseRows {
 public:
  SparseRows(std::uint64_t seed, std::int64_t rows, std::int64_t nonzeros, std::int64_t columns)
      : seed_(mixed_bits(seed)), rows_(rows), nonzeros_(nonzeros), columns_(columns) {
    per_row_ = static_cast<double>(nonzeros) / static_cast<double>(rows);
    // Lengths vary by their average, or less where a row would be longer than the matrix is wide.
    if (nonzeros > 0) variation_ = std::clamp((static_cast<double>(columns) - 1) / per_row_ - 1, 0.0, 1.0);
  }

  std::int64_t begin(std::int64_t row) const {
    if (row == 0) return 0;
    if (row == rows_) return nonzeros_;
    const double shift = variation_ * (uniform(seed_, static_cast<std::uint64_t>(row)) - 0.5);
    const double begin = std::floor(per_row_ * (static_cast<double>(row) + shift));
    return std::min(nonzeros_, static_cast<std::int64_t>(begin));
  }

  /// One column in each of as many equal parts of the row as it has non-zeros: ascending, none twice.
  std::int64_t column(std::int64_t nonzero, std::int64_t row_begin, std::int64_t row_end) const {
    const std::int64_t length = row_end - row_begin, k = nonzero - row_begin;
    // columns * number / length, whose product may exceed 64 bits.
    const auto part = [&](std::int64_t number) {
      return columns_ / length * number + columns_ % length * number / length;
    };
    const double share = uniform(~seed_, static_cast<std::uint64_t>(nonzero));
    return static_cast<std::int64_t>(
        whole_number(static_cast<double>(part(k)), static_cast<double>(part(k + 1) - 1), share));
  }

  std::int64_t rows() const { return rows_; }

 private:
  std::uint64_t seed_;
  std::int64_t rows_, nonzeros_, columns_;
  double per_row_ = 0;
  double variation_ = 0;
};

/// Rows of a buffer of row pointers. The seed is the workload's: both arrays of the matrix follow from it.
SparseRows sparse_rows(const BufferSpec& pointers, const Values& shape, std::uint64_t seed) {
  return {seed, pointers.size.size(shape, 1) - 1, pointers.fill.first.size(shape), pointers.fill.second.size(shape, 1)};
}

void fill_columns(const SparseRows& matrix, HostTensor& tensor) {
  host_parallel(matrix.rows(), std::int64_t{1} << 12, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t begin = matrix.begin(row), end = matrix.begin(row + 1);
      for (std::int64_t k = begin; k < end; ++k)
        store_element(tensor, k, static_cast<double>(matrix.column(k, begin, end)));
    }
  });
}

/// True if the type holds the value, rounded if it is a floating-point type.
bool is_representable(double value, double stored, DType dtype) {
  if (is_whole_type(dtype)) return stored == value;
  return std::isfinite(value) && std::isfinite(stored) && (dtype != DType::fp8 || std::abs(value) <= 464);
}

bool is_representable(double value, DType dtype) {
  HostTensor one(TensorSpec{.name = {}, .elements = 1, .dtype = dtype});
  store_element(one, 0, value);
  return is_representable(value, one[0], dtype);
}

void fill_from_formula(const Formula& formula, const Values& shape, HostTensor& tensor) {
  const DType dtype = tensor.spec().dtype;
  host_parallel(tensor.spec().elements, std::int64_t{1} << 16, [&](std::int64_t begin, std::int64_t end) {
    ElementFormula value_of(formula, shape, {}, tensor.spec().elements);
    const bool whole = exceeds_double(dtype) && value_of.may_be_whole();
    for (std::int64_t i = begin; i < end; ++i) {
      const WholeResult exact = whole ? value_of.whole(i) : WholeResult{};
      if (exact.status == WholeStatus::exact) {
        store_whole(tensor, i, exact.value);
        if (tensor.whole(i) == exact.value) continue;
      }
      const double value = value_of(i);
      store_element(tensor, i, value);
      if (exact.status != WholeStatus::exact && is_representable(value, tensor[i], dtype)) continue;
      formula.place().fail(
          fmt::format("'{}' is {} for i = {}, which does not fit {}", formula.text(), value, i, to_string(dtype)));
    }
  });
}

void fill_from_file(const std::filesystem::path& file, HostTensor& tensor) {
  const DType dtype = tensor.spec().dtype;
  const NpyArray array = read_npy(file, tensor.spec().elements);
  store_all(tensor, [&](std::uint64_t i) { return array.values[i]; });
  const bool whole = exceeds_double(dtype) && !array.whole.empty();
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (whole) store_whole(tensor, index, array.whole[i]);
    const bool stored =
        whole ? tensor.whole(index) == array.whole[i] : is_representable(array.values[i], tensor[index], dtype);
    if (!stored)
      throw Error(fmt::format("{}: element {} is {}, which does not fit {}", file.string(), i, array.values[i],
                              to_string(dtype)));
  }
}

/// One check of an input's values, whose failures name the place.
class ValueCheck {
 public:
  ValueCheck(const KernelSpec& spec, const BufferSpec& buffer, const Values& shape, std::int64_t elements)
      : spec_(spec), buffer_(buffer), fill_(buffer.fill), shape_(shape), elements_(elements) {}

  void run() const {
    switch (fill_.kind) {
      case InputFill::Kind::uniform:
      case InputFill::Kind::normal:
      case InputFill::Kind::npy:
        return;
      case InputFill::Kind::constant:
        return require(fill_.first.number(shape_), fill_.first);
      case InputFill::Kind::range:
      case InputFill::Kind::sorted:
        return check_range();
      case InputFill::Kind::mask:
        return check_mask();
      case InputFill::Kind::permutation:
        return require_whole_up_to(elements_ - 1, fill_.place);
      case InputFill::Kind::formula:
        // Its names and reductions; a value that cannot be computed fails when the input is filled.
        static_cast<void>(ElementFormula(fill_.first, shape_, {}, elements_));
        return;
      case InputFill::Kind::csr_rows:
        return check_rows();
      case InputFill::Kind::csr_columns:
        return check_columns();
    }
  }

 private:
  void require(double value, const Formula& formula) const {
    if (is_representable(value, buffer_.dtype)) return;
    formula.place().fail(
        fmt::format("'{}' is {}, which does not fit {}", formula.text(), value, to_string(buffer_.dtype)));
  }

  void require_whole_up_to(std::int64_t most, const Place& place) const {
    const double roundoff = unit_roundoff(buffer_.dtype);
    const bool exact = is_whole_type(buffer_.dtype) ? is_representable(static_cast<double>(most), buffer_.dtype)
                                                    : static_cast<double>(most) <= 1 / roundoff;
    if (exact) return;
    place.fail(fmt::format("'{}' needs the whole numbers up to {}, which {} cannot represent", buffer_.name, most,
                           to_string(buffer_.dtype)));
  }

  void check_range() const {
    const double low = fill_.first.number(shape_), high = fill_.second.number(shape_);
    require(low, fill_.first);
    require(high, fill_.second);
    if (low > high) fill_.second.place().fail(fmt::format("the range [{}, {}] is empty", low, high));
  }

  void check_mask() const {
    const double share = fill_.first.number(shape_);
    if (!(share >= 0 && share <= 1)) {
      fill_.first.place().fail(fmt::format("a mask's share of ones is between 0 and 1, not {}", share));
    }
  }

  void check_rows() const {
    const std::int64_t rows = elements_ - 1, nonzeros = fill_.first.size(shape_),
                       columns = fill_.second.size(shape_, 1);
    if (rows < 1) fill_.place.fail(fmt::format("'{}' has one row pointer more than rows: at least 2", buffer_.name));
    if (nonzeros / columns > rows || (nonzeros / columns == rows && nonzeros % columns > 0)) {
      fill_.first.place().fail(fmt::format("{} x {} elements have no {} non-zeros", rows, columns, nonzeros));
    }
    require_whole_up_to(nonzeros, fill_.place);
  }

  void check_columns() const {
    const BufferSpec* pointers = spec_.find_buffer(fill_.rows);
    if (pointers == nullptr || pointers->fill.kind != InputFill::Kind::csr_rows) {
      fill_.place.fail(fmt::format("'{}' is not a buffer with the values csr_rows", fill_.rows));
    }
    const std::int64_t nonzeros = pointers->fill.first.size(shape_);
    if (elements_ != nonzeros) {
      fill_.place.fail(fmt::format("'{}' has {} elements, and '{}' ends at {} non-zeros", buffer_.name, elements_,
                                   fill_.rows, nonzeros));
    }
    require_whole_up_to(pointers->fill.second.size(shape_, 1) - 1, fill_.place);
  }

  const KernelSpec& spec_;
  const BufferSpec& buffer_;
  const InputFill& fill_;
  const Values& shape_;
  std::int64_t elements_;
};

void fill_values(const KernelSpec& spec, const BufferSpec& buffer, const Workload& workload, std::uint64_t seed,
                 HostTensor& tensor) {
  const InputFill& fill = buffer.fill;
  const Values shape = values_of({}, workload);
  const auto number = [&](const Formula& formula) { return formula.empty() ? 0 : formula.number(shape); };
  const double low = fill.kind == InputFill::Kind::formula ? 0 : number(fill.first), high = number(fill.second);
  const bool whole = is_whole_type(buffer.dtype);
  const auto in_range = [&](double share) {
    return whole ? whole_number(low, high, share) : low + (high - low) * share;
  };
  switch (fill.kind) {
    case InputFill::Kind::uniform:
      return tensor.fill_random(seed);
    case InputFill::Kind::normal:
      return store_all(tensor, [&](std::uint64_t i) { return normal(seed, i); });
    case InputFill::Kind::constant:
      return store_all(tensor, [&](std::uint64_t) { return low; });
    case InputFill::Kind::range:
      return store_all(tensor, [&](std::uint64_t i) { return in_range(uniform(seed, i)); });
    case InputFill::Kind::sorted: {
      // One value in each of as many equal parts of the range as there are elements.
      const auto elements = static_cast<double>(buffer.size.size(shape, 1));
      return store_all(
          tensor, [&](std::uint64_t i) { return in_range((static_cast<double>(i) + uniform(seed, i)) / elements); });
    }
    case InputFill::Kind::mask:
      return store_all(tensor, [&](std::uint64_t i) { return uniform(seed, i) < low ? 1 : 0; });
    case InputFill::Kind::permutation: {
      const Permutation permutation(seed, static_cast<std::uint64_t>(buffer.size.size(shape, 1)));
      return store_all(tensor, [&](std::uint64_t i) { return static_cast<double>(permutation(i)); });
    }
    case InputFill::Kind::formula:
      return fill_from_formula(fill.first, shape, tensor);
    case InputFill::Kind::csr_rows: {
      const SparseRows matrix = sparse_rows(buffer, shape, workload.seed);
      return store_all(
          tensor, [&](std::uint64_t i) { return static_cast<double>(matrix.begin(static_cast<std::int64_t>(i))); });
    }
    case InputFill::Kind::csr_columns:
      return fill_columns(sparse_rows(*spec.find_buffer(fill.rows), shape, workload.seed), tensor);
    case InputFill::Kind::npy:
      return fill_from_file(fill.file, tensor);
  }
}

}  // namespace

void fill_input(const KernelSpec& spec, const Workload& workload, std::size_t t, std::uint64_t seed,
                HostTensor& tensor) {
  const BufferSpec& buffer = tensor_buffer(spec, t);
  fill_values(spec, buffer, workload, seed, tensor);
  if (buffer.ascending) sort_elements(tensor);
}

void check_input_values(const KernelSpec& spec, const Workload& workload, const std::vector<TensorSpec>& tensors) {
  const Values shape = values_of({}, workload);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (is_read(tensors[t].role)) ValueCheck(spec, tensor_buffer(spec, t), shape, tensors[t].elements).run();
  }
}

bool is_repeatable(const InputFill& fill) {
  return fill.kind == InputFill::Kind::uniform || fill.kind == InputFill::Kind::normal ||
         fill.kind == InputFill::Kind::constant || fill.kind == InputFill::Kind::range ||
         fill.kind == InputFill::Kind::mask;
}

const BufferSpec& tensor_buffer(const KernelSpec& spec, std::size_t t) {
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffer.workspace && t-- == 0) return buffer;
  }
  throw Error(fmt::format("'{}' has no tensor of that number", spec.name));
}

}  // namespace roofline
