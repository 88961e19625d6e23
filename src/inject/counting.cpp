#include "inject/counting.hpp"

#include <atomic>
#include <mutex>

#include "inject/launch_counter.hpp"
#include "inject/session.hpp"

namespace roofline::inject {
namespace {

/// Never freed: threads may be in it when the process ends. nullptr: none of this process yet.
std::atomic<LaunchCounter*> instance;
std::atomic<Session*> instance_session;

/// Created at the first launch, and again in a child of fork() that initializes CUDA itself.
LaunchCounter* counting() {
  Session* const current = session();
  if (instance_session.load(std::memory_order_acquire) == current) return instance.load(std::memory_order_relaxed);
  static std::mutex making;
  const std::lock_guard lock(making);
  if (instance_session.load() != current) {
    instance = current != nullptr ? new LaunchCounter(*current) : nullptr;
    instance_session.store(current, std::memory_order_release);
  }
  return instance;
}

}  // namespace

bool counting_asks() {
  const LaunchCounter* const counter = counting();
  return counter != nullptr && counter->asks();
}

bool counting_enters(const LaunchSite& site) {
  LaunchCounter* const counter = counting();
  return counter != nullptr && counter->enters(site);
}

void counting_exits(const LaunchSite& site, bool launched) { instance.load()->exits(site, launched); }

bool counting_work_begins() {
  LaunchCounter* const counter = counting();
  return counter != nullptr && counter->work_begins();
}

void counting_work_ends() { instance.load()->work_ends(); }

void counting_capture_begins() {
  if (LaunchCounter* const counter = counting()) counter->capture_begins();
}

void counting_capture_ends() {
  if (LaunchCounter* const counter = counting()) counter->capture_ends();
}

void counting_context_destroyed(CUcontext context) {
  if (LaunchCounter* const counter = instance.load()) counter->context_destroyed(context);
}

bool counting_holds() {
  LaunchCounter* const counter = counting();
  return counter == nullptr || counter->hold();
}

void counting_resumes() {
  if (LaunchCounter* const counter = counting()) counter->resume();
}

CountingState counting_state() {
  LaunchCounter* const counter = counting();
  return counter != nullptr ? counter->state() : CountingState();
}

void counting_finish() {
  if (LaunchCounter* const counter = instance.load()) counter->finish();
}

std::uint64_t counting_cost() {
  const LaunchCounter* const counter = instance.load();
  return counter != nullptr ? counter->cost() : 0;
}

}  // namespace roofline::inject
