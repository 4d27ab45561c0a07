// One TCP socket between two ranks: frames leave in batches, several in one system call and straight from the slots
// where they lie, and those that come are checked and put straight where they belong. Never waits. Which frames go over
// which stream is the port's business (tcp_port.h); so are the links.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/fd.h"
#include "core/transport/tcp_frame.h"
#include "core/transport/tcp_link.h"

namespace ringtree {

/// Where the frames of a peer go. Implemented by the port.
class TcpSink {
 public:
  virtual ~TcpSink() = default;
  /// Where a message's payload goes, null if there can be no such message now.
  virtual std::byte* room_for(const TcpFrame& frame) = 0;
  /// The same of a message that has begun to come.
  virtual std::byte* room_of(const TcpFrame& frame) = 0;
  /// The payload is there.
  virtual void deliver(const TcpFrame& frame) = 0;
  /// False: a credit that cannot be.
  virtual bool credit(const TcpFrame& frame) = 0;
};

class TcpStream {
 public:
  static constexpr size_t kBatchBytes = size_t{256} << 10;

  explicit TcpStream(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  /// Neither direction is of use any more.
  bool broken() const { return broken_; }
  /// Why, for people: "the peer closed it".
  const std::string& reason() const { return reason_; }
  /// Whether what came was damaged or nonsense, rather than cut off.
  bool corrupt() const { return corrupt_; }

  /// The kernel may take or have something: it said so, or nobody has asked it yet.
  bool writable = true, readable = true;
  /// The kernel said that the stream has ended: there is something to read until receive() has found the end.
  bool ending = false;

  // --- sending

  /// Room in the batch for a frame, where it is to have `most` bytes or little more.
  bool has_room(size_t most) const { return num_items_ < kBatch && batch_bytes_ < most; }
  bool has_unsent() const { return first_vector_ < num_vectors_; }
  /// Puts a frame into the batch. Requires has_room() and that the batch has not begun to leave. `owner`: whose message
  /// it is, null for a credit.
  void add(TcpFrame frame, std::span<const std::byte> payload, TcpOut* owner, uint64_t number);
  /// Whether the peer still takes anything.
  bool can_send() const { return !broken_ && !refused_; }
  /// Whether nothing waits to leave that anybody needs: credits are of no use to a peer that has gone.
  bool flushed() const;
  /// Gives the kernel what it takes. True if it took anything.
  bool send();
  uint64_t bytes_sent() const { return bytes_sent_; }

  // --- receiving

  /// Takes what the kernel has, up to some hundred kilobytes. True if anything came.
  bool receive(TcpSink& sink);
  uint64_t bytes_received() const { return bytes_received_; }

  /// Whether the peer's kernel has everything that was sent.
  bool all_acknowledged() const;
  void close() { socket_.reset(); }

 private:
  static constexpr size_t kBatch = 16;
  static constexpr size_t kStagingBytes = size_t{4} << 10;
  static constexpr int kReceivesATurn = 4;

  struct Item {
    TcpOut* owner = nullptr;
    uint64_t number = 0;
    size_t ends_at = 0;  // in the batch
  };

  void sent(size_t bytes);
  void received(size_t bytes, TcpSink& sink);
  void parse(TcpSink& sink);
  bool begin(const TcpFrame& frame, TcpSink& sink);
  void finish_message(TcpSink& sink);
  void break_off(std::string reason, bool corrupt);

  Fd socket_;
  bool broken_ = false, corrupt_ = false;
  bool refused_ = false;  // the peer takes nothing any more; what it sent before may still be here to be read
  std::string reason_;
  // The batch that leaves.
  std::array<TcpHeader, kBatch> headers_;
  std::array<Item, kBatch> items_;
  std::array<iovec, 2 * kBatch> vectors_;
  size_t num_items_ = 0, first_item_ = 0, num_vectors_ = 0, first_vector_ = 0;
  size_t batch_bytes_ = 0, batch_sent_ = 0;
  uint32_t next_sequence_ = 0;
  uint64_t bytes_sent_ = 0;
  // The message that comes.
  TcpFrame incoming_;
  std::byte* payload_ = nullptr;  // where its bytes begin, as the sink last said
  size_t payload_got_ = 0, payload_left_ = 0;
  uint32_t awaited_sequence_ = 0;
  size_t num_staged_ = 0;
  uint64_t bytes_received_ = 0;
  std::array<std::byte, kStagingBytes> staging_;
};

}  // namespace ringtree
