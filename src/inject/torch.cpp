// Maps launches of the backward pass to their forward operation. An autograd node stores the sequence number at its
// creation, and launches of the forward pass that follow see the counter one higher. Nodes are read directly from
// memory; the layout is verified once against the sequence number that Python returns for the same node.
#include "inject/torch.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "inject/loaded_library.hpp"
#include "inject/python.hpp"

namespace roofline::inject {
namespace {

struct Torch {
  /// torch::autograd::get_current_node() returns a std::shared_ptr<Node>.
  std::shared_ptr<void> (*current_node)() = nullptr;
  /// at::sequence_number::peek()
  std::uint64_t (*sequence)() = nullptr;
};
std::atomic<const Torch*> found_torch;

/// The beginning of a torch::autograd::Node, with virtual functions and enable_shared_from_this.
struct NodeBeginning {
  const void* const* functions;
  const void* self[2];
  std::uint64_t sequence;
};

/// Sequence number of AccumulateGrad nodes, which no forward operation created.
constexpr std::uint64_t kNoSequence = UINT64_MAX;

/// Source of the forward launch for each counter value. A ring buffer: a training step creates thousands of nodes.
class Forwards {
 public:
  void remember(std::uint64_t sequence, const spool::Place& origin) {
    Entry& entry = entries_[sequence % entries_.size()];
    if (entry.sequence.load(std::memory_order_relaxed) == sequence) return;  // keep the first launch: the node's own
    entry.place.store(std::uint64_t{origin.line} << 32 | origin.module, std::memory_order_relaxed);
    entry.sequence.store(sequence, std::memory_order_release);
  }

  /// The source for the node created at `sequence`. Operations without a launch (views) get their neighbour's.
  bool find(std::uint64_t sequence, spool::Place& origin) const {
    constexpr std::uint64_t kAhead = 8, kBehind = 32;
    for (std::uint64_t step = 1; step <= kAhead; ++step) {
      if (read(sequence + step, origin)) return true;
    }
    for (std::uint64_t step = 0; step <= kBehind && step <= sequence; ++step) {
      if (read(sequence - step, origin)) return true;
    }
    return false;
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> sequence = kNoSequence;
    std::atomic<std::uint64_t> place = 0;
  };

  bool read(std::uint64_t sequence, spool::Place& origin) const {
    const Entry& entry = entries_[sequence % entries_.size()];
    if (entry.sequence.load(std::memory_order_acquire) != sequence) return false;
    const std::uint64_t place = entry.place.load(std::memory_order_relaxed);
    origin.line = static_cast<spool::Id>(place >> 32);
    origin.module = static_cast<spool::Id>(place);
    return true;
  }

  std::array<Entry, 1 << 16> entries_;
};

Forwards& forwards() {
  static auto* const made = new Forwards;
  return *made;
}

/// "torch::autograd::generated::AddmmBackward0" becomes "AddmmBackward0".
std::string short_name(const char* mangled) {
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  std::string name = text != nullptr ? text.get() : mangled;
  const std::size_t colons = name.rfind("::", name.find('<'));
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

struct NodeType {
  spool::Id name = 0;
  bool python = false;  ///< torch.autograd.Function: Python has its class name
};

NodeType type_of(Session& session, const NodeBeginning& node) {
  const auto* const type = static_cast<const std::type_info*>(node.functions[-1]);
  struct Known {
    const Session* session = nullptr;
    const std::type_info* type = nullptr;
    NodeType value;
  };
  static thread_local std::array<Known, 64> recent;
  Known& known = recent[reinterpret_cast<std::uintptr_t>(type) / 16 % recent.size()];
  if (known.session != &session || known.type != type) {
    const std::string name = short_name(type->name());
    known = {&session, type, {session.spool.text(name), name == "PyNode"}};
  }
  return known.value;
}

enum class Trust : int { unknown, yes, no };
std::atomic<Trust> trust;

/// True if the assumed layout of nodes is right. Without Python to compare with, a plausible sequence number is enough.
bool trusted(const NodeBeginning& node) {
  const Trust known = trust.load(std::memory_order_relaxed);
  if (known != Trust::unknown) return known == Trust::yes;
  if (node.sequence == kNoSequence) return false;
  const std::uint64_t said = python_node_sequence();
  const bool right = said != kNoSequence ? said == node.sequence : node.sequence < (std::uint64_t{1} << 40);
  trust = right ? Trust::yes : Trust::no;
  return right;
}

}  // namespace

void look_for_torch() {
  if (found_torch.load() != nullptr) return;
  // With a path the loader only compares it with the loaded libraries. With a bare name it opens files in every folder
  // of its search path, which occupies a file descriptor number that the program may expect.
  const std::string path = loaded_library("libtorch_cpu.so");
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  auto torch = std::make_unique<Torch>();
  torch->current_node =
      reinterpret_cast<decltype(torch->current_node)>(dlsym(library, "_ZN5torch8autograd16get_current_nodeEv"));
  torch->sequence = reinterpret_cast<decltype(torch->sequence)>(dlsym(library, "_ZN2at15sequence_number4peekEv"));
  if (torch->current_node != nullptr && torch->sequence != nullptr) found_torch = torch.release();
}

void add_autograd(Session& session, ThreadState& thread, const PythonOrigin& python, spool::Place& origin) {
  const Torch* const torch = found_torch.load(std::memory_order_acquire);
  if (torch == nullptr) return;
  const std::shared_ptr<void> held = torch->current_node();
  const std::uint64_t counter = torch->sequence();
  if (held == nullptr) {
    if (counter != thread.last_sequence) {
      thread.last_sequence = counter;
      forwards().remember(counter, origin);
    }
    return;
  }
  const auto& node = *static_cast<const NodeBeginning*>(held.get());
  if (!trusted(node)) return;
  const NodeType type = type_of(session, node);
  origin.backward = 1;
  origin.operation = type.name;
  if (type.python) {
    if (thread.python_node != held.get() || thread.python_node_sequence != node.sequence) {
      thread.python_node = held.get();
      thread.python_node_sequence = node.sequence;
      thread.python_node_name = python_node_name(session);
    }
    origin.operation = thread.python_node_name;
  }
  // The backward of a Python autograd.Function has its own source line and may call modules again.
  spool::Place forward = {};
  if (node.sequence == kNoSequence || !forwards().find(node.sequence, forward)) {
    forward.line = thread.last_backward_line;
    forward.module = thread.last_backward_module;
  }
  // So has a hook on a gradient, which runs outside of all modules; what is computed again for a checkpoint does not.
  const bool own_line = python.own && (type.python || (python.entered && python.module == 0));
  if (!own_line) origin.line = forward.line;
  const bool gradient_hook = own_line && !type.python;
  if (origin.module == 0 && !gradient_hook) origin.module = forward.module;
  thread.last_backward_line = forward.line;
  thread.last_backward_module = forward.module;
}

}  // namespace roofline::inject
