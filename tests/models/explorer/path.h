// Where an exploration stands: the choices that led to the present execution, so that the next one goes the same way
// up to the last choice that has an alternative left (depth first, by replay).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace ringtree::explorer {

class Path {
 public:
  /// The choice among `count` alternatives that comes next, 0 first. `what` stands for what they are. Throws if a
  /// replay meets another choice than the execution that it repeats.
  size_t pick(size_t count, size_t what) {
    if (depth_ == choices_.size()) choices_.push_back({0, count, what});
    const Choice& choice = choices_[depth_++];
    if (choice.count != count || choice.what != what) throw std::logic_error("the program does not repeat itself");
    return choice.taken;
  }

  /// Goes to the next path. False if there is none.
  bool advance() {
    depth_ = 0;
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

 private:
  struct Choice {
    size_t taken, count, what;
  };
  std::vector<Choice> choices_;
  size_t depth_ = 0;
};

}  // namespace ringtree::explorer
