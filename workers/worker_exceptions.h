// Exceptions of a library in C++ as the texts that workers return (worker.h).
#pragma once

#include <exception>
#include <string>

/// Of the last function that failed; what said() returned points into it.
inline std::string last_error;

/// Runs `work`; returns null, or its exception's text, which stays until the next call that fails.
template <typename Work>
const char* said(Work&& work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    last_error = error.what();
    return last_error.c_str();
  }
}
