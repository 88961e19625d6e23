// What causes and their details are called, and what to do against them.
#pragma once

#include "profile/cause_detail.hpp"
#include "report/profile.hpp"

namespace roofline {

/// An empty action is that of CUDA.
struct ActionTexts {
  const char* what = "";
  const char* cuda = "";
  const char* torch = "";
  const char* jax = "";
  const char* cupy = "";
};

const ActionTexts& texts_of(SavingCause cause);
/// Instead of those of the cause; null: there are none.
const ActionTexts* texts_of(CauseDetail detail);

}  // namespace roofline
