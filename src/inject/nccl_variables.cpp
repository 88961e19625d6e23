#include "inject/nccl_variables.hpp"

#include <cstdlib>
#include <string_view>

#include "inject/session.hpp"

namespace roofline::inject {
namespace {

/// Of NCCL's documentation, those that choose transport, algorithm and number of channels. Paths, addresses and names
/// of interfaces are left out.
constexpr const char* kVariables[] = {"NCCL_P2P_DISABLE",    "NCCL_P2P_LEVEL",    "NCCL_P2P_DIRECT_DISABLE",
                                      "NCCL_SHM_DISABLE",    "NCCL_NET",          "NCCL_IB_DISABLE",
                                      "NCCL_NET_GDR_LEVEL",  "NCCL_NET_GDR_READ", "NCCL_CROSS_NIC",
                                      "NCCL_ALGO",           "NCCL_PROTO",        "NCCL_MIN_NCHANNELS",
                                      "NCCL_MAX_NCHANNELS",  "NCCL_MIN_CTAS",     "NCCL_MAX_CTAS",
                                      "NCCL_NTHREADS",       "NCCL_BUFFSIZE",     "NCCL_NVLS_ENABLE",
                                      "NCCL_CUMEM_ENABLE",   "NCCL_MNNVL_ENABLE", "NCCL_NSOCKS_PERTHREAD",
                                      "NCCL_SOCKET_NTHREADS"};

constexpr std::size_t kLongestValue = 64;

}  // namespace

void write_nccl_variables(Session& session) {
  for (const char* const name : kVariables) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const spool::Variable record = {session.spool.text(name),
                                    session.spool.text(std::string_view(value).substr(0, kLongestValue))};
    session.spool.write(spool::Type::variable, record);
  }
}

}  // namespace roofline::inject
