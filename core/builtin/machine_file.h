// A machine's constants in a file, so that only the first job probes them. Not for where the file lies, or when it is
// read (machine_here.h).
#pragma once

#include <optional>
#include <string>

#include "core/model/estimate.h"

namespace ringtree {

/// What keep_machine() wrote for this `fingerprint` (one line); nothing if there is no such file, if it was written for
/// another fingerprint or format, or if it is malformed.
std::optional<Machine> read_machine(const std::string& path, const std::string& fingerprint);

/// Writes the file and its folder, so that readers see all of it or nothing. False: it can't be written.
bool keep_machine(const std::string& path, const std::string& fingerprint, const Machine& machine);

}  // namespace ringtree
