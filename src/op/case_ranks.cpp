// A case whose ranks are held by several processes.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "op/case_state.hpp"

namespace roofline {

Case::State::~State() {
  // Following processes would otherwise wait for the next batch.
  if (!leads_batches) return;
  try {
    device.exchange(members, "0");
  } catch (const std::exception&) {
    // They have already ended.
  }
}

/// The first non-empty text of the ranks' processes.
std::string Case::State::first_word(const std::string& mine) const {
  if (alone) return mine;
  for (const std::string& text : device.exchange(members, mine.substr(0, Device::kMostExchanged))) {
    if (!text.empty()) return text;
  }
  return {};
}

/// A step that all ranks' processes complete, or none: a process that continued alone would wait for the others
/// forever.
void Case::State::all_do(const std::function<void()>& step) const {
  if (alone) return step();
  std::string problem;
  try {
    step();
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (const std::string word = first_word(problem); !word.empty()) throw Error(word);
}

/// Combines the verification results of all processes, each of which checked its own outputs.
Verification Case::State::verdict_of_all(Verification mine) const {
  if (alone) return mine;
  const std::string text =
      fmt::format("{} {:a} {} {} {}", mine.passed ? 1 : 0, mine.error, mine.checked, mine.outputs, mine.failure);
  Verification all = mine;
  all.passed = true;
  all.error = 0;
  all.checked = all.outputs = 0;
  all.failure.clear();
  for (const std::string& found : device.exchange(members, text.substr(0, Device::kMostExchanged))) {
    int passed = 0, at = 0;
    double error = 0;
    long long checked = 0, outputs = 0;
    if (std::sscanf(found.c_str(), "%d %la %lld %lld %n", &passed, &error, &checked, &outputs, &at) != 4)
      throw Error("no verification result from a rank's process");
    all.passed = all.passed && passed == 1;
    all.error = std::isnan(all.error) || std::isnan(error) ? std::nan("") : std::max(all.error, error);
    all.checked += checked;
    all.outputs += outputs;
    const std::string failure = found.substr(static_cast<std::size_t>(at));
    if (!failure.empty()) all.failure += (all.failure.empty() ? "" : "; ") + failure;
  }
  all.reference = fmt::format("fp64 on the CPU, {} of {} elements, verified by each rank", all.checked, all.outputs);
  return all;
}

}  // namespace roofline
