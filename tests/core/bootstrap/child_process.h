// ChildProcess: a forked child that runs a function and talks to the test through a pipe of text lines; killed when the
// test ends early. For tests of death and of several processes; everything else uses threads, which TSan can see. Fork
// before the test starts threads of its own: a child of a process with threads may only call exec, strictly speaking.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>

#include "core/base/fd.h"
#include "core/bootstrap/unix_socket.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {

class ChildProcess {
 public:
  /// What the child has to talk: both block.
  struct Pipe {
    Fd to;
    Fd from;
    void say(const std::string& line) const {
      const std::string text = line + "\n";
      if (::write(to.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(99);
    }
    /// The next line of the other side; "" when there will be none or it does not come in time.
    std::string hear() const {
      std::string line;
      char c = 0;
      while (wait_for(from.get(), POLLIN, patience()) && ::read(from.get(), &c, 1) == 1) {
        if (c == '\n') return line;
        line.push_back(c);
      }
      return "";
    }
  };

  /// The child runs `body` and ends with its result, without destructors or exit handlers of the parent's objects.
  explicit ChildProcess(const std::function<int(const Pipe&)>& body) {
    int down[2];
    int up[2];
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) throw WorldError("no pipes");
    pid_ = ::fork();
    if (pid_ < 0) throw WorldError(errno_text("no process can be forked", errno));
    if (pid_ == 0) {
      ::close(down[1]);
      ::close(up[0]);
      int code = 98;
      const std::string outcome = outcome_of([&] { code = body({Fd(up[1]), Fd(down[0])}); });
      if (!outcome.empty()) std::fprintf(stderr, "child %d: %s\n", ::getpid(), outcome.c_str());
      ::_exit(code);
    }
    ::close(down[0]);
    ::close(up[1]);
    pipe_ = {Fd(down[1]), Fd(up[0])};
  }
  ChildProcess(ChildProcess&& other) noexcept : pipe_(std::move(other.pipe_)), pid_(std::exchange(other.pid_, -1)) {}
  ~ChildProcess() {
    if (pid_ <= 0) return;
    kill_now();
    wait();
  }

  const Pipe& pipe() const { return pipe_; }
  int pid() const { return pid_; }
  void kill_now() const { signal(SIGKILL); }
  /// Never to pid -1, which would mean every process of the machine.
  void signal(int number) const {
    if (pid_ <= 0 || ::kill(pid_, number) != 0) throw WorldError("no child to signal");
  }

  /// The exit code, or 128 + signal.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  Pipe pipe_;
  int pid_ = -1;
};

}  // namespace ringtree::testing
