// See communicator.h.
#include "core/engine/communicator.h"

#include <algorithm>

#include "core/base/fork_count.h"
#include "core/engine/agreement.h"
#include "core/reduce/kernels.h"
#include "core/transport/withdrawn_buffer.h"

namespace ringtree {
Communicator::Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
                           const std::string& prefix)
    : settings_(settings), fork_count_(fork_count()), parts_(store, prefix), shared_(world_size), links_(settings) {
  Agreed agreed;
  session_ = std::make_unique<Session>(store, rank, world_size, settings, prefix, router(),
                                       [&](Rendezvous& rendezvous, const Mesh& mesh, Deadline deadline) {
                                         agreed = agree_at_start(rendezvous, mesh, settings_, deadline);
                                       });
  parts_.set_token(agreed.token);
  // Only now, when every rank has the profile: if it is wrong, each says so itself.
  preparer_ = std::make_unique<const CallPreparer>(rank, std::move(table), selection_of(*session_, settings, agreed));
  bool all_can_be_fenced = true;  // every rank reads the same pages, so every rank finds the same
  for (int peer = 0; peer < world_size; ++peer) all_can_be_fenced &= session_->members().page(peer).can_be_fenced;
  policy_ = settings_.emulation ? WaitPolicy::emulated()
            : own_cores()       ? WaitPolicy::own_cores(!all_can_be_fenced)
            : session_->port()  ? WaitPolicy::shared_cores_on_hosts()
                                : WaitPolicy::shared_cores();
  budget_ = SpinBudget(policy_);
  gate_.set_fenced(policy_.fenced);
  links_.attach(*session_, shared_, policy_.fenced);
  transfers_ = std::make_unique<PointToPoint>(TransferWay::Parts{*session_, links_, shared_, settings_});
}

LinkRouter Communicator::router() {
  LinkRouter router;
  router.set(LinkMessage::links, [this](Session& session, int peer, ByteReader body, Fd fd) {
    links_.on_announcement(session, peer, body, std::move(fd));
  });
  router.set(LinkMessage::links_of_remote, [this](Session& session, int peer, ByteReader body, const Fd&) {
    links_.on_remote_announcement(session, peer, body);
  });
  router.set(LinkMessage::accept, [](Session& session, int peer, ByteReader body, const Fd&) {
    LinkDirectory::on_accept(session, peer, body);
  });
  router.set(LinkMessage::buffer, [this](Session& session, int peer, ByteReader body, Fd fd) {
    shared_.on_announcement(session, peer, body, std::move(fd));
  });
  router.set(LinkMessage::meeting,
             [this](Session& session, int, ByteReader body, const Fd&) { parts_.on_meeting(session, body); });
  return router;
}

Communicator::~Communicator() {
  close();
  if (fork_count() == fork_count_) return;
  gate_.abandon_mailbox();
  // A receive that was under way looks at its buffer once more when it ends, and here that need not be there.
  [[maybe_unused]] PointToPoint* const leaked = transfers_.release();
}

std::map<int, bool> Communicator::gone() const {
  std::map<int, bool> found;
  for (int peer = 0; peer < world_size(); ++peer)
    if (session_->members().is_gone(peer)) found[peer] = session_->members().has_died(peer);
  return found;
}

void Communicator::close() {
  const bool ours = fork_count() == fork_count_;  // in a child made by fork() only its copies are closed
  if (ours && !queue_.is_own_thread()) queue_.drain(nullptr);
  // One thread at a time, so that the second does not take the first for a call.
  std::unique_lock closing(closing_mutex_, std::defer_lock);
  if (ours) {
    gate_.refuse_messages();
    closing.lock();
    gate_.close_mailbox();
  }
  const bool idle = gate_.close() || !ours;  // a child has no other threads
  if (!idle)
    session_->fail(FailureKind::peer, session_->members().describe(rank()) + " closed its communicator during a call",
                   rank());
  session_->close(!idle);
  if (!idle) return;  // the call's own links keep their descriptors until the communicator goes
  links_.close_descriptors();
  gate_.leave();
}

void Communicator::check_fork() const {
  if (fork_count() != fork_count_)
    throw UsageError("this communicator was made before fork(); a child must make its own");
}

// What was started comes first; a task of the queue is such a one itself.
template <class Body>
void Communicator::run_alone(const Body& body, CallerLock* lock) {
  check_fork();
  if (!queue_.idle() && !queue_.is_own_thread()) {
    let_go(lock);
    queue_.drain(interrupted_);
  }
  gate_.enter();
  struct Leave {
    CallGate& gate;
    ~Leave() { gate.leave(); }
  } leave{gate_};
  body();
}

template <class Body>
void Communicator::run_exclusively(const Body& body, CallerLock* lock) {
  run_alone(
      [&] {
        if (session_->failed()) {
          let_go(lock);
          session_->raise_failure();
        }
        body();
      },
      lock);
}

void Communicator::start_trace(size_t capacity) {
  run_exclusively([&] { trace_ = std::make_unique<TraceLog>(capacity); });
}

Trace Communicator::take_trace() {
  Trace trace;
  run_alone([&] {
    if (!trace_) throw UsageError("no trace is running: call start_trace() first");
    trace = trace_->take(rank());
    trace_.reset();
  });
  return trace;
}

void Communicator::run(const Call& call, CallerLock* lock) {
  run_exclusively([&] { run_checked(call, lock); }, lock);
}

void Communicator::transfer(std::span<const Transfer> transfers, double timeout_s) {
  if (!(timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or positive");
  run_exclusively([&] {
    transfers_->run(transfers, {policy_, budget_, timeout_s > 0 ? timeout_s : settings_.timeout_s, interrupt_here()});
  });
}

std::shared_ptr<Work> Communicator::start(const Call& call) {
  check_fork();
  return queue_.add([this, kept = KeptCall(call)] { run(kept.get()); });
}

std::shared_ptr<Work> Communicator::start(std::vector<Transfer> transfers, double timeout_s) {
  check_fork();
  return queue_.add([this, transfers = std::move(transfers), timeout_s] { transfer(transfers, timeout_s); });
}

void Communicator::abort(const std::string& reason) {
  check_fork();
  session_->fail(FailureKind::error, session_->members().describe(rank()) + " aborted the communicator: " + reason);
}

void Communicator::run_checked(const Call& call, CallerLock* lock) {
  CallPreparer::check(call);
  PreparedCall* prepared = prepared_.find(call);
  // Made before the others are told, so that a call that cannot be harms nobody.
  std::unique_ptr<PreparedCall> fresh;
  if (!prepared) {
    let_go(lock);
    fresh = preparer_->prepare(call, plans_);
    prepared = fresh.get();
  }
  const bool is_bound = prepared->is_bound_to(call) && !prepared->scale;  // a factor is each call's own
  if (!is_bound) CallPreparer::check_buffers(call, *prepared);
  last_ = nullptr;
  const uint64_t sequence = prepared->description.sequence = ++sequence_;
  history_ = CallDescription::history(history_, prepared->kind_hash);
  CallWatch watch(*session_, prepared->description, prepared->words,
                  call.timeout_s > 0 ? call.timeout_s : settings_.timeout_s, interrupt_here(), lock);
  if (fresh) {
    watch.show();  // whoever makes a plan may wait for peers before the call begins
    complete(*prepared, watch);
    prepared = prepared_.add(std::move(fresh));
  }
  if (!is_bound) bind_buffers(call, *prepared, lock);
  execute(call, *prepared, watch);
  // release, pairs with the acquire in Session::first_missing(): from now on we are not needed for this call.
  session_->members().own_page().completed.store(sequence, std::memory_order_release);
  last_ = prepared;
}

void Communicator::complete(PreparedCall& call, CallWatch& watch) {
  if (!call.plan) make_plan(call, watch);
  if (!settings_.emulation) bind_whole_steps(call.bound, *call.plan);
}

void Communicator::make_plan(PreparedCall& call, CallWatch& watch) {
  const uint64_t key = call.description.plan_key;
  const Configuration& configuration = call.configuration;
  try {
    const Program program = call.schedule->program(rank());
    links_.begin_plan(*call.schedule, program, key,
                      preparer_->family_of(call, links_.uses_pools(configuration.protocol)), configuration.protocol,
                      configuration.channels, [&watch] { return watch.inspect(); });
    plans_[key] = compile_plan(call.schedule, program, key, configuration.protocol, configuration.channels,
                               settings_.emulation.has_value(), links_);
    call.plan = plans_[key].get();
    call.plan->pipelined = call.pipelined;
  } catch (const std::exception& error) {  // the others have begun the call and would wait for us
    session_->fail(FailureKind::error, session_->members().describe(rank()) + " could not begin " +
                                           call.description.to_string() + ": " + error.what());
    throw;
  }
}

namespace {

// A peer that was given up may go on one day and write the rest of a slice of its sum to where our operand was.
void take_back(const PreparedCall& call, const Settings& settings) {
  const BoundCall& bound = call.bound;
  const std::byte* const first = std::min<const std::byte*>(bound.input, bound.output);
  const std::byte* const end =
      std::max<const std::byte*>(bound.input + call.input.length, bound.output + call.output.length);
  try {
    withdraw_shared(first, static_cast<size_t>(end - first));
  } catch (const WorldError& error) {
    if (settings.warn) settings.warn(std::string(error.what()) + "; peers that hang may still write there once");
  }
}

// Once a call has failed its buffers are the caller's again, and messages under way may lie in them.
class Sending {
 public:
  explicit Sending(TcpPort* port) : port_(port) {}
  ~Sending() {
    if (port_) port_->stop_sending();
  }
  void succeeded() { port_ = nullptr; }

 private:
  TcpPort* port_;
};

}  // namespace

void Communicator::bind_buffers(const Call& call, PreparedCall& prepared, CallerLock* lock) {
  prepared.bound_at = PreparedCall::kNotBound;  // until all is found out
  const uint64_t generation = shared_generation();
  const void* const input = prepared.scale ? scaled_input(call, prepared) : call.input;
  BoundCall& bound = prepared.bound;
  bound.input = static_cast<const std::byte*>(input);
  bound.output = static_cast<std::byte*>(call.output);
  bound.in_place = reinterpret_cast<uintptr_t>(input) - prepared.input.offset ==
                   reinterpret_cast<uintptr_t>(call.output) - prepared.output.offset;  // either may be null
  // Out of place, and without an input (who receives a broadcast), a large output would first be fetched only to be
  // overwritten; in place it was just read, and what the configuration says was found so.
  bound.stream_output = prepared.configuration.streaming;
  if (!prepared.kind.asked().streaming && (!bound.in_place || prepared.input.length == 0))
    bound.stream_output |= streams_by_default(prepared.output.length, prepared.input.length > 0);
  bound.cache_output = prepared.kind.asked().streaming == false;
  bound.shared_input = shared_.find(*session_, input, prepared.input.length, lock);
  bound.shared_output = shared_.find(*session_, call.output, prepared.output.length, lock);
  bound.answered =
      settings_.answers_in_place && bound.in_place && bound.shared_input && bound.shared_output && !settings_.emulation;
  prepared.bound_at = generation;
}

void Communicator::execute(const Call& call, PreparedCall& prepared, CallWatch& watch) {
  prepared.bound.fingerprint = CallDescription::fingerprint(history_, prepared.description.sequence);
  if (settings_.emulation) use_exact_timers();
  const Inlets inlets = session_->inlets();
  const bool emulated = settings_.emulation.has_value();
  Sending sending(session_->port());
  RunResult result;
  if (trace_) {
    trace_->begin_call(prepared.description, *prepared.plan, prepared.bound.cut);
    result = run_plan_traced(*prepared.plan, prepared.bound, policy_, budget_, inlets, emulated, watch, *trace_);
  } else {
    result = run_plan(*prepared.plan, prepared.bound, policy_, budget_, inlets, emulated, watch);
  }
  prepared.num_answers = result.num_answers;
  prepared.num_placed = result.num_placed;
  if (result.status == RunStatus::mismatch) watch.report_mismatch(result.peer);
  if (result.status != RunStatus::done) {
    if (prepared.bound.answered) take_back(prepared, settings_);
    session_->raise_failure();
  }
  sending.succeeded();
  if (prepared.finish) prepared.finish(call.output, prepared.output.length / prepared.bound.item_bytes, world_size());
}

// The input multiplied by this rank's factor: in the output where it fits there, from where it is then summed in place.
const void* Communicator::scaled_input(const Call& call, const PreparedCall& prepared) {
  void* target = call.output;
  if (prepared.input.offset != prepared.output.offset || prepared.input.length != prepared.output.length) {
    if (scaled_.size() < prepared.input.length) scaled_.resize(prepared.input.length);  // a larger call than any before
    target = scaled_.data();
  }
  prepared.scale(target, call.input, prepared.input.length / prepared.bound.item_bytes, call.factor);
  return target;
}

void Communicator::post(TaggedMessage message) {
  check_fork();
  gate_.mailbox({*session_, links_, shared_, settings_}, policy_, !queue_.idle()).post(std::move(message));
}

void Communicator::post_send(int peer, int tag, const void* data, size_t bytes, double timeout_s,
                             TaggedMessage::Done done) {
  TaggedMessage message;
  message.peer = peer;
  message.tag = tag;
  message.data = static_cast<std::byte*>(const_cast<void*>(data));  // what sends does not write
  message.bytes = bytes;
  message.timeout_s = timeout_s;
  message.done = std::move(done);
  post(std::move(message));
}

void Communicator::post_recv(int peer, int tag, void* data, size_t bytes, double timeout_s, TaggedMessage::Done done) {
  TaggedMessage message;
  message.sends = false;
  message.peer = peer;
  message.tag = tag;
  message.data = static_cast<std::byte*>(data);
  message.bytes = bytes;
  message.timeout_s = timeout_s;
  message.done = std::move(done);
  post(std::move(message));
}

// What all ranks of this communicator hold alike, so that the part need not be told again.
PartMaker::Whole Communicator::whole() const {
  if (settings_.emulation) throw UsageError("a communicator that emulates a cluster cannot be split or shrunk");
  PartMaker::Whole whole{*session_, settings_, preparer_->table(), interrupted_};
  whole.settings.profile = preparer_->selection().profile.text();
  // Which was asked where all ranks share a host. Constants that are built in are so without a probe, too.
  if (std::ranges::all_of(session_->mesh().hosts(), [](int host) { return host == 0; })) {
    whole.settings.probe = {};
    if (const Machine& machine = preparer_->selection().machine; machine.source != Machine::kBuiltIn)
      whole.settings.probe = [machine](double) { return machine; };
  } else {
    whole.settings.probes_links = {};
    whole.settings.links = preparer_->selection().links;
  }
  return whole;
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  const PartMaker::Whole self = whole();
  const PartMaker::Wish mine{color, key};
  std::vector<PartMaker::Wish> all(static_cast<size_t>(world_size()));
  Call gather;
  gather.collective = Collective::all_gather;
  gather.dtype = Dtype::kInt64;
  gather.count = mine.size();
  gather.input = mine.data();
  gather.output = all.data();
  run(gather);
  return parts_.split(self, all);
}

std::unique_ptr<Communicator> Communicator::shrink() {
  check_fork();
  return parts_.shrink(whole());
}

LastCall Communicator::last_call() const {
  LastCall last;
  if (!last_) return last;
  last.description = last_->description;
  last.reason = last_->reason;
  last.configuration = last_->configuration;
  last.configuration.streaming = last_->bound.stream_output;
  last.cut = last_->bound.cut;
  last.num_channels = last_->plan->num_channels;
  last.num_lanes = static_cast<int>(last_->plan->lanes.size()) / last.num_channels;
  last.num_chunks = last_->schedule->shape().num_chunks;
  last.num_answers = last_->num_answers;
  last.num_placed = last_->num_placed;
  return last;
}

}  // namespace ringtree
