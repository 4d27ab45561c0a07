// The binding functions of this folder, one a concept; module.cpp calls them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "core/base/reduce_op.h"
#include "core/schedule/collective.h"

namespace ringtree::bindings {

/// Runs Python's signal handlers (Ctrl-C). Not 0: the exception stays set, which is then what the caller of the
/// collective gets.
int python_interrupt();

/// Throws UsageError that lists what exists.
Collective collective_from(const std::string& name);
ReduceOp op_from(const std::string& name);

void bind_errors(nanobind::module_& module);
void bind_rounds(nanobind::module_& module);
void bind_schedule(nanobind::module_& module);
void bind_algorithms(nanobind::module_& module);
void bind_verify(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_simulate(nanobind::module_& module);
void bind_probe(nanobind::module_& module);
void bind_rows(nanobind::module_& module);
void bind_stores(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_communicator(nanobind::module_& module);
void bind_group(nanobind::module_& module);
void bind_shared(nanobind::module_& module);
void bind_textbook(nanobind::module_& module);

}  // namespace ringtree::bindings
