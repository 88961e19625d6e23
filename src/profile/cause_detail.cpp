#include "profile/cause_detail.hpp"

#include "text/text.hpp"

namespace roofline {

CauseDetail detail_of_call(std::string_view call) {
  if (contains_any(call, {"cuStreamCreate", "cuStreamDestroy", "cuEventCreate", "cuEventDestroy"})) {
    return CauseDetail::streams;
  }
  if (contains_any(call, {"cuGraphInstantiate", "cuGraphExecUpdate", "cuGraphExecDestroy", "cuGraphUpload"})) {
    return CauseDetail::graphs;
  }
  const bool host = contains_any(
      call, {"cuMemHostAlloc", "cuMemAllocHost", "cuMemHostRegister", "cuMemFreeHost", "cuMemHostUnregister"});
  return host ? CauseDetail::host_memory : CauseDetail::none;
}

}  // namespace roofline
