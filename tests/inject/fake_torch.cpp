// As much of PyTorch's C++ library as tells of autograd: its counter, and the node that a thread evaluates.
#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <thread>

namespace torch::autograd {

struct Node : std::enable_shared_from_this<Node> {
  explicit Node(std::uint64_t sequence) : sequence_nr_(sequence) {}
  virtual ~Node() = default;
  std::uint64_t sequence_nr_;
};
namespace generated {
struct AddmmBackward0 : Node {
  using Node::Node;
};
}  // namespace generated
struct AccumulateGrad : Node {
  using Node::Node;
};
struct PyNode : Node {
  using Node::Node;
};

namespace {
thread_local std::shared_ptr<Node> current;
thread_local std::uint64_t counter;
}  // namespace

__attribute__((visibility("default"))) std::shared_ptr<Node> get_current_node() { return current; }

}  // namespace torch::autograd

namespace at::sequence_number {
__attribute__((visibility("default"))) std::uint64_t peek() { return torch::autograd::counter; }
}  // namespace at::sequence_number

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

/// An operation of the forward makes its node. Returns the node's number.
FAKE_EXPORT std::uint64_t fake_torch_make() { return torch::autograd::counter++; }

/// The thread evaluates a node: 'a' of a product, 'g' of a leaf's gradient, 'p' of a Python function; '-' none.
FAKE_EXPORT void fake_torch_evaluate(char kind, std::uint64_t sequence) {
  using namespace torch::autograd;
  current = nullptr;
  if (kind == 'a') current = std::make_shared<generated::AddmmBackward0>(sequence);
  if (kind == 'g') current = std::make_shared<AccumulateGrad>(UINT64_MAX);
  if (kind == 'p') current = std::make_shared<PyNode>(sequence);
}

FAKE_EXPORT std::uint64_t fake_torch_sequence() {
  const auto node = torch::autograd::get_current_node();
  return node != nullptr ? node->sequence_nr_ : 0;
}

namespace {
template <typename Function>
Function python(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}
}  // namespace

/// A thread that Python knows and that runs no Python, as autograd's are, launches the function.
FAKE_EXPORT void fake_torch_launch_elsewhere(int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned,
                                                           unsigned, unsigned, void*, void**, void**),
                                             void* function) {
  std::thread([&] {
    const int state = python<int (*)()>("PyGILState_Ensure")();
    void* const saved = python<void* (*)()>("PyEval_SaveThread")();
    launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
    python<void (*)(void*)>("PyEval_RestoreThread")(saved);
    python<void (*)(int)>("PyGILState_Release")(state);
  }).join();
}
