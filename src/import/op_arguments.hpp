// The arguments of a PyTorch operator, as a trace has them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/op_work.hpp"

namespace roofline {

/// An element's type in PyTorch's words.
struct Element {
  DType dtype = DType::fp32;
  double size = 0;
  bool floating = true;
};

struct Tensor {
  std::vector<double> shape;
  Element element;

  double count() const {
    double product = 1;
    for (const double extent : shape) product *= extent;
    return product;
  }
  double bytes() const { return count() * element.size; }
  std::size_t rank() const { return shape.size(); }
  /// The extent by index; negative from the end: at(-1) is the innermost extent.
  double at(int index) const {
    return shape[index < 0 ? shape.size() - static_cast<std::size_t>(-index) : static_cast<std::size_t>(index)];
  }
};

/// The arguments of a call: those that are tensors, by their place.
class Arguments {
 public:
  explicit Arguments(const OpCall& call);

  const Tensor* tensor(std::size_t index) const {
    return index < tensors_.size() && tensors_[index] ? &*tensors_[index] : nullptr;
  }
  /// The tensor, if it has at least `rank` dimensions; null otherwise.
  const Tensor* tensor(std::size_t index, std::size_t rank) const {
    const Tensor* found = tensor(index);
    return found != nullptr && found->rank() >= rank ? found : nullptr;
  }
  /// The tensors among the first `inputs` arguments.
  std::vector<const Tensor*> first(std::size_t inputs) const {
    std::vector<const Tensor*> list;
    for (std::size_t i = 0; i < tensors_.size() && i < inputs; ++i) {
      if (tensors_[i]) list.push_back(&*tensors_[i]);
    }
    return list;
  }
  /// The first tensor after the inputs, into which a call with `out=` writes its result. Null if there is none.
  const Tensor* out(std::size_t inputs) const {
    for (std::size_t i = inputs; i < tensors_.size(); ++i) {
      if (tensors_[i]) return &*tensors_[i];
    }
    return nullptr;
  }
  std::size_t words() const { return words_.size(); }
  /// A scalar's text: "True", "0."; empty if it was not recorded.
  std::string word(std::size_t index) const { return index < words_.size() ? words_[index] : ""; }
  /// A list's numbers, "[1, 1]".
  std::vector<double> numbers(std::size_t index) const;

 private:
  std::vector<std::optional<Tensor>> tensors_;
  std::vector<std::string> words_;
};

}  // namespace roofline
