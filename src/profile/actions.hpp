// Description and remedy of each cause of lost time, in the API of the program's framework.
#pragma once

#include <string>

#include "profile/cause_detail.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

enum class Framework : std::uint8_t { cuda, torch, jax, cupy };

/// Framework by the names of kernels and ranges; CUDA if none is recognised.
Framework framework_of(const Recording& recording);

/// "GPU idle: the launching process also loads data".
std::string what_is_lost(SavingCause cause, CauseDetail detail = CauseDetail::none);

/// One action against the cause.
std::string action_against(SavingCause cause, Framework framework, CauseDetail detail = CauseDetail::none);

/// Action for copies, by direction, memory and size. `fraction` is the share of the link's roof; NaN: unknown.
std::string action_for_copies(const CopySum& copy, double fraction, Framework framework);

}  // namespace roofline
