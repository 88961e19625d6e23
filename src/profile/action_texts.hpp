// What causes and their details are called, and what to do against them.
#pragma once

#include <algorithm>
#include <span>

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

template <typename Key>
struct ActionRow {
  Key of = {};
  ActionTexts texts = {};
};

/// Null: there is no such row.
template <typename Key>
const ActionTexts* texts_in(std::span<const ActionRow<Key>> rows, Key of) {
  const auto found = std::ranges::find(rows, of, &ActionRow<Key>::of);
  return found == rows.end() ? nullptr : &found->texts;
}

const ActionTexts& texts_of(SavingCause cause);
/// Instead of those of the cause; null: there are none.
const ActionTexts* texts_of(CauseDetail detail);

}  // namespace roofline
