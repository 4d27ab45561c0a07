// See direct.h.
#include "core/engine/direct.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ringtree {
namespace {

class Finder {
 public:
  Finder(const Schedule& schedule, const Program& program) : schedule_(schedule), program_(program) {}

  DirectUse use_of(size_t index) {
    const Step& step = program_.steps()[index];
    DirectUse use;
    if (step.send_to.empty() || step.chunks.count != 1) return use;  // several chunks need not lie side by side
    // The result of a step goes to dst and into the message; without dst only an operand that is passed on as it is.
    const Buffer from = step.dst ? step.dst.buffer : (step.recv.empty() ? step.src.buffer : Buffer::none);
    if (from != Buffer::input && from != Buffer::output) return use;
    use.from = from;
    use.out_of_place = from == Buffer::input || overwritten_safely(index);
    use.in_place = overwritten_safely(index);
    return use;
  }

  /// The step by which the result of the reader of step `index` comes back, if the reader may write it itself: nothing
  /// else of this rank's touches the chunk until it is there, except that step, which only receives.
  std::optional<size_t> answer_to(size_t index) {
    const Step& step = program_.steps()[index];
    if (step.dst || !step.recv.empty() || !is_users(step.src) || step.chunks.count != 1 || !overwritten_safely(index))
      return std::nullopt;
    const int chunk = step.chunks.id(0, schedule_.shape().num_chunks);
    std::optional<size_t> answer;
    for (size_t i = 0; i < program_.steps().size(); ++i) {
      const Step& other = program_.steps()[i];
      if (i == index || !(is_users(other.src) || is_users(other.dst)) || !names(other, chunk)) continue;
      // A read of the output that comes later in the program waits for the answer: a dependency says so.
      if (answer && other.src == kOutput && !is_users(other.dst)) continue;
      const bool receives_only = other.recv.size() == 1 && !other.src && !shape_of(other.verb).reduces;
      if (answer || i < index || !receives_only || !comes_from_the_reader_of(index, i)) return std::nullopt;
      answer = i;
    }
    return answer;
  }

  static bool answers(const Step& step) {
    if (!shape_of(step.verb).reduces || step.dst != kOutput || step.chunks.count != 1) return false;
    if (step.recv.empty() || step.recv.size() + 1 > kMostAnswered) return false;
    std::vector<int> from, to = step.send_to;
    for (const Endpoint& end : step.recv) from.push_back(end.peer);
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    return from == to;
  }

 private:
  static constexpr size_t kMostAnswered = 64;  // operands of a fold that SliceRun can mark

  static bool is_users(const Place& place) { return place.buffer == Buffer::input || place.buffer == Buffer::output; }

  /// Every later step that writes the chunk gets its contents from the step that reads this one's message.
  bool overwritten_safely(size_t index) {
    const Step& step = program_.steps()[index];
    const int chunk = step.chunks.id(0, schedule_.shape().num_chunks);
    for (size_t later = index + 1; later < program_.steps().size(); ++later) {
      const Step& writer = program_.steps()[later];
      if (writer.dst.buffer != Buffer::output || !names(writer, chunk)) continue;
      if (!comes_from_the_reader_of(index, later)) return false;
    }
    return true;
  }

  bool names(const Step& step, int chunk) const {
    for (int i = 0; i < step.chunks.count; ++i)
      if (step.chunks.id(i, schedule_.shape().num_chunks) == chunk) return true;
    return false;
  }

  bool comes_from_the_reader_of(size_t sent, size_t writer) {
    const Step &first = program_.steps()[sent], &last = program_.steps()[writer];
    if (first.send_to.size() != 1 || last.recv.size() != 1 || !(first.chunks == last.chunks)) return false;
    const int peer = first.send_to[0];
    if (last.recv[0].peer != peer) return false;
    const auto reader = receiving_step(peer, first.send_tag, message_number(sent));
    return reader && reader == sending_step(peer, last.recv[0].tag, arrival_number(writer));
  }

  // Links are FIFOs and each end belongs to one lane, so the k-th message sent is the k-th received.

  int message_number(size_t index) const {
    const Step& step = program_.steps()[index];
    int number = 0;
    for (size_t i = 0; i < index; ++i)
      number += program_.steps()[i].send_to == step.send_to && program_.steps()[i].send_tag == step.send_tag;
    return number;
  }
  int arrival_number(size_t index) const {
    const Endpoint& end = program_.steps()[index].recv[0];
    int number = 0;
    for (size_t i = 0; i < index; ++i) number += receives(program_.steps()[i], end.peer, end.tag);
    return number;
  }
  std::optional<size_t> receiving_step(int peer, int tag, int number) {
    return nth(peer, number, [&](const Step& step) { return receives(step, program_.rank(), tag); });
  }
  std::optional<size_t> sending_step(int peer, int tag, int number) {
    return nth(peer, number, [&](const Step& step) {
      return step.send_tag == tag &&
             std::find(step.send_to.begin(), step.send_to.end(), program_.rank()) != step.send_to.end();
    });
  }

  static bool receives(const Step& step, int peer, int tag) {
    return std::find(step.recv.begin(), step.recv.end(), Endpoint{peer, tag}) != step.recv.end();
  }

  template <class Wanted>
  std::optional<size_t> nth(int peer, int number, const Wanted& wanted) {
    auto entry = programs_.find(peer);
    if (entry == programs_.end()) entry = programs_.emplace(peer, schedule_.program(peer)).first;
    const std::vector<Step>& steps = entry->second.steps();
    for (size_t i = 0; i < steps.size(); ++i)
      if (wanted(steps[i]) && number-- == 0) return i;
    return std::nullopt;
  }

  const Schedule& schedule_;
  const Program& program_;
  std::map<int, Program> programs_;  // of peers
};

}  // namespace

std::vector<DirectUse> find_direct_uses(const Schedule& schedule, const Program& program) {
  Finder finder(schedule, program);
  std::vector<DirectUse> uses;
  for (size_t i = 0; i < program.steps().size(); ++i) uses.push_back(finder.use_of(i));
  for (size_t i = 0; i < program.steps().size(); ++i) {
    uses[i].answers = Finder::answers(program.steps()[i]);
    const std::optional<size_t> answer = finder.answer_to(i);
    if (!answer) continue;
    uses[i].answered = true;
    uses[*answer].takes_answer = true;
  }
  return uses;
}

}  // namespace ringtree
