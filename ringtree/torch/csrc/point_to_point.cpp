// send and recv of the backend: messages by tag, from one rank or from any, done as they come. See backend.h.
#include "backend.h"

namespace ringtree_torch {
namespace {

/// A message under way: what its completion needs. Owned by the library until it says that the message is done.
struct Message {
  intrusive_ptr<Work> work;
  at::Tensor plain;              // what is sent, kept until then
  std::unique_ptr<Output> into;  // of a receive
  at::ThreadLocalState state;    // of who posted it
  std::shared_ptr<std::atomic<int>> open;

  explicit Message(std::shared_ptr<std::atomic<int>> open_messages) : open(std::move(open_messages)) {
    open->fetch_add(1, std::memory_order_relaxed);
  }
  ~Message() { open->fetch_sub(1, std::memory_order_release); }  // pairs with the acquire in is_done_by()

  static void done(void* context, rtResult_t result, int source, const char* error) noexcept {
    const std::unique_ptr<Message> message(static_cast<Message*>(context));
    std::exception_ptr failure = exception_of(result, error);
    if (!failure && message->into) {
      try {
        const at::ThreadLocalStateGuard as_poster(message->state);
        const at::NoGradGuard no_grad;
        message->into->finish();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    // A callback may wait for another message, which this thread alone moves.
    message->work->complete(failure, source, false);
  }
};

// Posts by rtPostSend() or rtPostRecv() what lies plain in `memory`. Owns `message` until that is done.
template <class Post>
WorkPtr post(Post post_it, std::unique_ptr<Message> message, const at::Tensor& memory, int peer, int tag,
             Milliseconds timeout, rtComm_t comm) {
  intrusive_ptr<Work> work = message->work;
  check(post_it(memory.data_ptr(), memory.nbytes(), peer, tag, seconds_of(timeout), Message::done, message.get(), comm),
        comm);
  [[maybe_unused]] Message* const posted = message.release();
  return work;
}

}  // namespace

WorkPtr Backend::send(Tensors& tensors, int peer, int tag) {
  check_usable();
  const at::Tensor& tensor = only(tensors, "send");
  datatype_of(tensor);
  auto message = std::make_unique<Message>(open_messages_);
  message->work = c10::make_intrusive<Work>(rank_, c10d::OpType::SEND, "ringtree:send", Tensors{}, 0, tensors);
  message->plain = tensor.contiguous();
  const at::Tensor from = message->plain;
  return post(rtPostSend, std::move(message), from, peer, tag, timeout_.load(std::memory_order_relaxed),
              messages_->get());
}

WorkPtr Backend::receive(Tensors& tensors, int peer, int tag, c10d::OpType type, const char* title) {
  check_usable();
  const at::Tensor& tensor = only(tensors, "recv");
  datatype_of(tensor);
  auto message = std::make_unique<Message>(open_messages_);
  message->work = c10::make_intrusive<Work>(rank_, type, title, tensors, 0, tensors);
  message->into = std::make_unique<Output>(tensor, Output::Content::kIgnored);
  const at::Tensor into = message->into->tensor();
  return post(rtPostRecv, std::move(message), into, peer, tag, timeout_.load(std::memory_order_relaxed),
              messages_->get());
}

WorkPtr Backend::recv(Tensors& tensors, int peer, int tag) {
  return receive(tensors, peer, tag, c10d::OpType::RECV, "ringtree:recv");
}

WorkPtr Backend::recvAnysource(Tensors& tensors, int tag) {
  return receive(tensors, RT_ANY_SOURCE, tag, c10d::OpType::RECVANYSOURCE, "ringtree:recvAnySource");
}

WorkPtr Backend::barrier(const c10d::BarrierOptions& opts) {
  return start({c10d::OpType::BARRIER, "ringtree:barrier", opts.timeout, is_async(opts)}, {}, {},
               [](rtComm_t comm) { check(rtBarrier(comm), comm); });
}

}  // namespace ringtree_torch
