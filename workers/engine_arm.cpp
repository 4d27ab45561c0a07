// See engine_arm.h. Nothing here is on the way of a call but the call: no lock, no allocation, no look-up of names.
#include "workers/engine_arm.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "core/algorithms/registry.h"
#include "core/bootstrap/network.h"
#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/builtin/algorithm_table.h"
#include "core/builtin/machine_here.h"
#include "core/engine/communicator.h"
#include "core/transport/shared_buffer.h"
#include "workers/worker_exceptions.h"

namespace ringtree::workers {
namespace {

constexpr double kTimeout = 60;  // seconds, of meeting and of each call

struct Engine {
  std::string store_id, rules;
  int rank = 0, size = 0;
  std::unique_ptr<Store> store;  // rank 0 serves it: outlives the communicator
  /// One whose `auto` chooses for private buffers, one for shared ones, and the one in use.
  std::unique_ptr<Communicator> for_private, for_shared;
  Communicator* communicator = nullptr;
  Call call;                // the one under way; its algorithm stays
  LastCall before_barrier;  // what the last call ran that is not a barrier
};

Engine engine;  // not a local static, whose guard would be looked at in each call

constexpr char kTcp[] = "tcp://";

// "tcp://10.77.0.10:29500" is one of several hosts, any other id one of this host. Sets what the network needs, too.
std::unique_ptr<Store> open_store(Settings& settings) {
  const Deadline deadline = Deadline::after_seconds(kTimeout);
  if (engine.store_id.rfind(kTcp, 0) != 0) return std::make_unique<UnixStore>(engine.store_id, engine.rank, deadline);
  const std::string place = engine.store_id.substr(sizeof kTcp - 1);
  const size_t colon = place.rfind(':');
  const int port = colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1);
  if (port < 1 || port > UINT16_MAX) throw UsageError("the store is '" + place + "', not HOST:PORT");
  settings.network = Network::from_environment();
  settings.network.towards = place.substr(0, colon);
  return std::make_unique<TcpStore>(settings.network.towards, static_cast<uint16_t>(port), engine.rank,
                                    settings.network.secret, deadline);
}

const char* start(int* rank, int* size) {
  return said([&] {
    Settings settings;
    engine.store = open_store(settings);
    settings.timeout_s = kTimeout;
    settings.warn = [](const std::string& line) { std::fprintf(stderr, "ringtree: %s\n", line.c_str()); };
    settings.profile = engine.rules;
    settings.probe = machine_prober();
    settings.probes_links = link_prober();
    auto make = [&](const char* name) {
      return std::make_unique<Communicator>(*engine.store, engine.rank, engine.size, settings, built_in_table(), name);
    };
    engine.for_private = make("bench");
    settings.shared_buffers = true;
    engine.for_shared = make("bench-shared");
    engine.communicator = engine.for_private.get();
    *rank = engine.rank;
    *size = engine.size;
  });
}

const char* version() { return "ringtree " RINGTREE_VERSION; }

const char* prepare(const char* dtype_name, const char* op_name) {
  const auto found_dtype = dtype_from_name(dtype_name);
  const auto found_op = std::strcmp(op_name, "none") == 0 ? ReduceOp::sum : reduce_op_from_name(op_name);
  if (!found_dtype || !found_op) return "unsupported";
  engine.call.dtype = *found_dtype;
  engine.call.op = *found_op;
  return nullptr;
}

template <Collective collective>
const char* run(const WorkerCall* call) {
  return said([&] {
    constexpr bool root_gives = collective == Collective::broadcast || collective == Collective::scatter;
    constexpr bool root_gets = collective == Collective::reduce || collective == Collective::gather;
    const bool is_root = call->root == engine.rank;
    Call& made = engine.call;
    made.collective = collective;
    made.root = call->root;
    made.count = call->count;
    made.input = !root_gives || is_root ? call->input : nullptr;
    made.output = !root_gets || is_root ? call->output : nullptr;
    engine.communicator->run(made);
  });
}

const char* barrier() {
  return said([] {
    static const int32_t input = 1;
    static int32_t output;
    engine.before_barrier = engine.communicator->last_call();  // each batch ends with a barrier
    Call call;
    call.dtype = Dtype::kInt32;
    call.count = 1;
    call.input = &input;
    call.output = &output;
    engine.communicator->run(call);
  });
}

// The words after `algorithm`; `auto` and 0 leave the choice to the engine.
AlgorithmRef parse_reference(char** words, size_t num_words) {
  AlgorithmRef asked;
  asked.set_name(words[0]);
  if (!asked.name.empty()) find_algorithm(asked.name);  // throws if there is none; what it cannot do the call says
  const std::string protocol = num_words > 1 ? words[1] : "auto";
  if (protocol != "auto") asked.protocol = require_protocol(protocol);
  const std::string slice_bytes = num_words > 2 ? words[2] : "0";
  if (slice_bytes.size() > 9 || slice_bytes.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError("SLICE_BYTES is '" + slice_bytes + "', not a number of bytes");
  asked.slice_bytes = std::stoul(slice_bytes);
  const std::string stores = num_words > 3 ? words[3] : "auto";
  if (stores != "auto" && stores != "streaming" && stores != "ordinary")
    throw UsageError("stores are streaming or ordinary, not '" + stores + "'");
  if (stores != "auto") asked.streaming = stores == "streaming";
  return asked;
}

const char* algorithm(char** words, size_t num_words) {
  return said([&] { engine.call.ask(parse_reference(words, num_words)); });
}

// "executed": what the last call of the last batch ran.
const char* control(const char* name, char* value, size_t capacity) {
  if (std::strcmp(name, "executed") != 0) return "unsupported";
  return said([&] {
    const LastCall& last = engine.before_barrier;
    std::snprintf(value, capacity, "algorithm=%s protocol=%s slice_bytes=%zu streaming=%d", last.description.algorithm,
                  protocol_name(last.configuration.protocol), last.cut.slice_bytes,
                  last.configuration.streaming ? 1 : 0);
  });
}

void finish() {
  engine.for_private.reset();
  engine.for_shared.reset();
  engine.store.reset();
}

std::map<void*, std::shared_ptr<Segment>> shared_memory;  // what the worker has of it

void* allocate(size_t bytes) {
  try {
    const std::shared_ptr<Segment> segment = allocate_shared(bytes);
    shared_memory[segment->data()] = segment;
    engine.communicator = engine.for_shared.get();  // all buffers of a run are shared, or none
    return segment->data();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void give_back(void* memory) {
  shared_memory.erase(memory);
  if (shared_memory.empty()) engine.communicator = engine.for_private.get();
}

}  // namespace

const WorkerArm& engine_arm(const std::string& store_id, int rank, int size, const std::string& rules) {
  static const WorkerArm arm = {
      .start = start,
      .version = version,
      .collectives = {run<Collective::all_reduce>, run<Collective::reduce_scatter>, run<Collective::all_gather>,
                      run<Collective::broadcast>, run<Collective::all_to_all>, run<Collective::reduce>,
                      run<Collective::gather>, run<Collective::scatter>},
      .prepare = prepare,
      .barrier = barrier,
      .algorithm = algorithm,
      .control = control,
      .allocate_shared = allocate,
      .free_shared = give_back,
      .finish = finish};
  engine.store_id = store_id;
  engine.rules = rules;
  engine.rank = rank;
  engine.size = size;
  return arm;
}

}  // namespace ringtree::workers
