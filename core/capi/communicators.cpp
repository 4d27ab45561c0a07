// Making and ending communicators, as ringtree.h describes it: what a caller passes becomes the engine's Settings and a
// store, and back comes a handle.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/builtin/algorithm_table.h"
#include "core/builtin/machine_here.h"
#include "core/capi/errors.h"
#include "core/capi/group_scope.h"
#include "core/capi/handle.h"
#include "core/capi/meeting.h"
#include "core/net/socket.h"

namespace ringtree::capi {
namespace {

// The fields that the caller's version of the struct has; those that it does not have are 0, as is their default.
rtConfig_t complete(const rtConfig_t* given) {
  rtConfig_t config = RT_CONFIG_INITIALIZER;
  if (!given) return config;
  if (given->size < sizeof(size_t)) refuse_argument("config.size is not set: begin with RT_CONFIG_INITIALIZER");
  const auto* const bytes = reinterpret_cast<const char*>(given);
  // A newer caller's further fields: what this version does not know may not be asked for.
  for (size_t i = sizeof config; i < given->size; ++i)
    if (bytes[i] != 0) refuse_argument("config sets a field that this version of the library does not have");
  std::memcpy(&config, given, std::min(given->size, sizeof config));
  return config;
}

std::string read_rules(const char* path) {
  const auto fail = [path](int error) {
    refuse_argument(errno_text("config.rules_path " + std::string(path) + " cannot be read", error));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rbe"), std::fclose);
  if (!file) fail(errno);
  std::string text;
  char part[4096];
  while (const size_t got = std::fread(part, 1, sizeof part, file.get())) text.append(part, got);
  if (std::ferror(file.get())) fail(errno);
  return text;
}

Settings settings_of(const rtConfig_t* given, int rank) {
  const rtConfig_t config = complete(given);
  Settings settings;
  settings.network = Network::from_environment();
  require_seconds(config.timeout_s, "config.timeout_s");
  if (config.reserved != 0) refuse_argument("config.reserved is not 0");
  if (config.timeout_s > 0) settings.timeout_s = config.timeout_s;
  if (config.memory_cap_bytes > 0) settings.memory_cap_bytes = config.memory_cap_bytes;
  if (config.num_channels != 0) settings.num_channels = config.num_channels;
  settings.shared_buffers = config.shared_buffers != 0;
  settings.deterministic = config.deterministic != 0;
  settings.answers_in_place = config.answers_in_place != 0;
  settings.warn = [](const std::string& line) { std::fprintf(stderr, "ringtree: %s\n", line.c_str()); };
  settings.probe = machine_prober();
  settings.probes_links = link_prober();
  if (config.rules_path && rank == 0) settings.profile = read_rules(config.rules_path);
  return settings;
}

rtComm_t make_part(const rtComm& whole, std::shared_ptr<Store> store, std::unique_ptr<Communicator> communicator) {
  const rtComm_t part = make_handle(std::move(store), std::move(communicator));
  part->timeout_s.store(whole.timeout_s.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);  // nobody else's yet
  return part;
}

}  // namespace
}  // namespace ringtree::capi

using namespace ringtree;
using namespace ringtree::capi;

rtResult_t rtGetUniqueId(rtUniqueId* id) {
  return guarded(nullptr, [&] { require_out(id, "id") = announce_meeting(); });
}

rtResult_t rtCommInitRank(rtComm_t* comm, int nranks, rtUniqueId id, int rank) {
  return rtCommInitRankConfig(comm, nranks, id, rank, nullptr);
}

rtResult_t rtCommInitRankConfig(rtComm_t* comm, int nranks, rtUniqueId id, int rank, const rtConfig_t* config) {
  return guarded(nullptr, [&] {
    require_out(comm, "comm") = nullptr;
    require_no_group("rtCommInitRank");
    if (nranks < 1 || rank < 0 || rank >= nranks)
      refuse_argument("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(nranks));
    Settings settings = settings_of(config, rank);
    auto [store, prefix] = join_meeting(id, rank, settings.network, Deadline::after_seconds(settings.timeout_s));
    auto communicator = std::make_unique<Communicator>(*store, rank, nranks, settings, built_in_table(), prefix);
    communicator->set_interrupt_check(complete(config).interrupted);
    *comm = make_handle(std::move(store), std::move(communicator));
  });
}

rtResult_t rtCommFinalize(rtComm_t comm) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_no_group("rtCommFinalize");
    handle.communicator->close();
  });
}

rtResult_t rtCommDestroy(rtComm_t comm) {
  return guarded(comm, [&] {
    if (!comm) return;
    rtComm& handle = require(comm);
    require_no_group("rtCommDestroy");
    handle.communicator->close();
    handle.communicator.reset();
    handle.store.reset();  // after it, as it was made through it
    handle.factors = {};
  });
}

rtResult_t rtCommAbort(rtComm_t comm, const char* reason) {
  return guarded(comm, [&] { require(comm).communicator->abort(reason ? reason : "no reason was given"); });
}

rtResult_t rtCommSplit(rtComm_t comm, int color, int key, rtComm_t* part) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_out(part, "part") = nullptr;
    require_no_group("rtCommSplit");
    auto made = handle.communicator->split(color, key);
    if (made) *part = make_part(handle, handle.store, std::move(made));
  });
}

rtResult_t rtCommShrink(rtComm_t comm, rtComm_t* survivors) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_out(survivors, "survivors") = nullptr;
    require_no_group("rtCommShrink");
    *survivors = make_part(handle, nullptr, handle.communicator->shrink());  // which brings its own store
  });
}

rtResult_t rtCommSetTimeout(rtComm_t comm, double timeout_s) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_seconds(timeout_s, "timeout_s");
    handle.timeout_s.store(timeout_s, std::memory_order_relaxed);  // a number, it publishes nothing
  });
}

rtResult_t rtCommCount(rtComm_t comm, int* count) {
  return guarded(comm, [&] { require_out(count, "count") = require(comm).communicator->world_size(); });
}

rtResult_t rtCommUserRank(rtComm_t comm, int* rank) {
  return guarded(comm, [&] { require_out(rank, "rank") = require(comm).communicator->rank(); });
}

rtResult_t rtCommGetAsyncError(rtComm_t comm, rtResult_t* async_error) {
  return guarded(comm, [&] {
    rtResult_t& answer = require_out(async_error, "async_error");
    answer = rtSuccess;
    const auto failure = require(comm).communicator->failure();
    if (failure) answer = guarded(comm, [&] { failure->raise(); });
  });
}
