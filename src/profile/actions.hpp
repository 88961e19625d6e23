// What is lost and what to do about it, cause by cause, in the API that the program uses.
#pragma once

#include <string>

#include "profile/cause_detail.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

enum class Framework : std::uint8_t { cuda, torch, jax, cupy };

/// By the names of kernels and ranges; CUDA where nothing shows another one.
Framework framework_of(const Recording& recording);

/// "GPU idle: the launching process also loads data".
std::string what_is_lost(SavingCause cause, CauseDetail detail = CauseDetail::none);

/// One thing to do.
std::string action_against(SavingCause cause, Framework framework, CauseDetail detail = CauseDetail::none);

/// For copies, of which direction, memory and size decide. `fraction` is the share of the link's roof; NaN: not known.
std::string action_for_copies(const CopySum& copy, double fraction, Framework framework);

}  // namespace roofline
