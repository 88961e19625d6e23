#include "inject/subscription.hpp"

#include "inject/cupti_library.hpp"
#include "inject/spool_writer.hpp"

namespace roofline::inject {
namespace {

/// Everything but the first may be missing.
constexpr std::array kRecorded = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                  CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                                  CUPTI_ACTIVITY_KIND_OVERHEAD};
/// Written once each, as something comes into being.
constexpr std::array kDescriptions = {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT};

constexpr std::array kResources = {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                   CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
                                   CUPTI_CBID_RESOURCE_MODULE_LOADED,
                                   CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                   CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                   CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED};

}  // namespace

CUptiResult Subscription::subscribe(CUpti_CallbackFunc callback) {
  return cupti().subscribe(&subscriber_, callback, nullptr);
}

CUptiResult Subscription::begin() {
  const Cupti& library = cupti();
  const CUptiResult status = library.enable(kRecorded.front());
  if (status != CUPTI_SUCCESS) return status;
  for (const CUpti_ActivityKind kind : kDescriptions) library.enable(kind);
  for (CUpti_CallbackId id = 1; id < kMostCalls; ++id) {
    const char* name = nullptr;
    if (library.callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || name == nullptr) break;
    calls_[id] = driver_call(name);
  }
  return CUPTI_SUCCESS;
}

void Subscription::record() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  for (const CUpti_ActivityKind kind : kRecorded) cupti().enable(kind);
  std::array<bool, kMostCalls> wanted = {};
  for (std::size_t id = 0; id < kMostCalls; ++id) wanted[id] = calls_[id].followed;
  apply(wanted);
  for (const CUpti_CallbackId id : kResources) {
    cupti().enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id);
  }
}

void Subscription::rest(const std::vector<CUpti_CallbackId>& followed) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  std::array<bool, kMostCalls> wanted = {};
  for (std::size_t id = 0; id < kMostCalls; ++id) wanted[id] = calls_[id].followed && always_followed(calls_[id]);
  for (const CUpti_CallbackId id : followed) wanted[id] = true;
  apply(wanted);
  for (const CUpti_ActivityKind kind : kRecorded) cupti().disable(kind);
}

bool Subscription::follow(const std::vector<CUpti_CallbackId>& ids, bool on) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  if (ended_) return true;
  for (const CUpti_CallbackId id : ids) set(id, on || always_followed(calls_[id]));
  return true;
}

void Subscription::end() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  for (const CUpti_ActivityKind kind : kRecorded) cupti().disable(kind);
  for (const CUpti_ActivityKind kind : kDescriptions) cupti().disable(kind);
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}) {
    cupti().enable_domain(0, subscriber_, domain);
  }
}

void Subscription::apply(const std::array<bool, kMostCalls>& wanted) {
  for (std::size_t id = 0; id < kMostCalls; ++id) set(static_cast<CUpti_CallbackId>(id), wanted[id]);
}

void Subscription::set(CUpti_CallbackId id, bool on) {
  if (on_[id] == on) return;
  on_[id] = on;
  cupti().enable_callback(on ? 1 : 0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

spool::Id Subscription::name_of(SpoolWriter& spool, CUpti_CallbackId id, const char* name) {
  spool::Id known = names_[id].load(std::memory_order_relaxed);
  if (known == 0) {
    known = spool.text(plain_name(name));
    names_[id].store(known, std::memory_order_relaxed);
  }
  return known;
}

template <typename Condition>
std::vector<CUpti_CallbackId> Subscription::calls_where(const Condition& condition) const {
  std::vector<CUpti_CallbackId> ids;
  for (CUpti_CallbackId id = 0; id < kMostCalls; ++id) {
    if (condition(id)) ids.push_back(id);
  }
  return ids;
}

std::vector<CUpti_CallbackId> Subscription::calls_of(spool::CallKind kind) const {
  return calls_where(
      [&](CUpti_CallbackId id) { return seen_[id].load(std::memory_order_relaxed) && calls_[id].kind == kind; });
}

std::vector<CUpti_CallbackId> Subscription::calls_named(spool::Id name) const {
  return calls_where([&](CUpti_CallbackId id) {
    return seen_[id].load(std::memory_order_relaxed) && names_[id].load(std::memory_order_relaxed) == name;
  });
}

std::vector<CUpti_CallbackId> Subscription::launches() const {
  return calls_where(
      [&](CUpti_CallbackId id) { return calls_[id].followed && calls_[id].kind == spool::CallKind::launch; });
}

Subscription& subscription() {
  static auto* const made = new Subscription;
  return *made;
}

}  // namespace roofline::inject
