// The binding functions of this folder, one a concept; module.cpp calls them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "core/schedule/collective.h"

namespace ringtree::bindings {

/// Throws UsageError that lists what exists.
Collective collective_from(const std::string& name);

void bind_errors(nanobind::module_& module);
void bind_schedule(nanobind::module_& module);
void bind_algorithms(nanobind::module_& module);
void bind_verify(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_probe(nanobind::module_& module);
void bind_stores(nanobind::module_& module);
void bind_communicator(nanobind::module_& module);
void bind_shared(nanobind::module_& module);

}  // namespace ringtree::bindings
