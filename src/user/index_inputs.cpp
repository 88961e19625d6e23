#include "user/index_inputs.hpp"

#include <utility>

#include "model/find.hpp"

namespace roofline {

std::vector<std::string> index_inputs(const KernelSpec& spec) {
  std::vector<std::string> selecting;
  for (const auto& [output, formula] : spec.expect.formulas) {
    for (std::string& name : formula.names_in_indices()) selecting.push_back(std::move(name));
  }
  std::vector<std::string> found;
  for (const BufferSpec& buffer : spec.buffers) {
    const InputFill::Kind kind = buffer.fill.kind;
    const bool ascends = kind == InputFill::Kind::csr_rows || kind == InputFill::Kind::sorted;
    if (buffer.workspace || buffer.role != TensorRole::input || !is_integer(buffer.dtype) || ascends) continue;
    const bool selects = kind == InputFill::Kind::permutation || kind == InputFill::Kind::csr_columns ||
                         contains(selecting, buffer.name);
    if (selects) found.push_back(buffer.name);
  }
  return found;
}

std::shared_ptr<const KernelSpec> with_ascending_indices(const KernelSpec& spec) {
  const std::vector<std::string> indices = index_inputs(spec);
  if (indices.empty()) return nullptr;
  const auto ascending = std::make_shared<KernelSpec>(spec);
  for (BufferSpec& buffer : ascending->buffers) buffer.ascending = contains(indices, buffer.name);
  return ascending;
}

}  // namespace roofline
