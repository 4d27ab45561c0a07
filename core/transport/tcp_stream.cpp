// See tcp_stream.h.
#include "core/transport/tcp_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/base/crc32c.h"
#include "core/net/socket.h"

namespace ringtree {

void TcpStream::add(TcpFrame frame, std::span<const std::byte> payload, TcpOut* owner, uint64_t number) {
  frame.sequence = next_sequence_++;
  const size_t at = num_items_++;
  headers_[at] = encode_tcp_frame(frame);
  vectors_[num_vectors_++] = {headers_[at].data(), kTcpHeaderBytes};
  // sendmsg() only reads.
  if (!payload.empty()) vectors_[num_vectors_++] = {const_cast<std::byte*>(payload.data()), payload.size()};
  batch_bytes_ += kTcpHeaderBytes + payload.size();
  items_[at] = {owner, number, batch_bytes_};
}

bool TcpStream::send() {
  if (!has_unsent() || !can_send() || !writable) return false;
  msghdr message{};
  message.msg_iov = vectors_.data() + first_vector_;
  message.msg_iovlen = num_vectors_ - first_vector_;
  const ssize_t taken = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (taken > 0) {
    sent(static_cast<size_t>(taken));
    return true;
  }
  if (errno == EAGAIN) {
    writable = false;
  } else if (errno == EPIPE || errno == ECONNRESET) {
    refused_ = ending = readable = true;  // receive() takes what has come and finds the end
  } else if (errno != EINTR) {
    break_off("it broke while sending: " + std::system_category().message(errno), false);
  }
  return false;
}

void TcpStream::sent(size_t bytes) {
  bytes_sent_ += bytes;
  batch_sent_ += bytes;
  for (; bytes > 0; ++first_vector_) {
    iovec& vector = vectors_[first_vector_];
    if (bytes < vector.iov_len) {
      vector = {static_cast<std::byte*>(vector.iov_base) + bytes, vector.iov_len - bytes};
      break;
    }
    bytes -= vector.iov_len;
  }
  for (; first_item_ < num_items_ && items_[first_item_].ends_at <= batch_sent_; ++first_item_) {
    const Item& item = items_[first_item_];
    if (item.owner) item.owner->sent(item.number);
  }
  if (has_unsent()) return;
  num_items_ = first_item_ = num_vectors_ = first_vector_ = 0;
  batch_bytes_ = batch_sent_ = 0;
}

bool TcpStream::flushed() const {
  if (!has_unsent()) return true;
  const auto unsent = std::span(items_).first(num_items_).subspan(first_item_);
  return !can_send() && std::all_of(unsent.begin(), unsent.end(), [](const Item& item) { return !item.owner; });
}

bool TcpStream::receive(TcpSink& sink) {
  bool any = false;
  for (int i = 0; i < kReceivesATurn && readable && !broken_; ++i) {
    std::array<iovec, 2> places;
    size_t num_places = 0, wanted = 0;
    if (payload_left_ > 0) {
      payload_ = sink.room_of(incoming_);
      places[num_places++] = {payload_ + payload_got_, payload_left_};
    }
    places[num_places++] = {staging_.data() + num_staged_, kStagingBytes - num_staged_};
    for (size_t k = 0; k < num_places; ++k) wanted += places[k].iov_len;
    msghdr message{};
    message.msg_iov = places.data();
    message.msg_iovlen = num_places;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (got > 0) {
      any = true;
      if (static_cast<size_t>(got) < wanted && !ending) readable = false;  // the kernel will tell when there is more
      received(static_cast<size_t>(got), sink);
    } else if (got == 0) {
      break_off(
          payload_left_ > 0 || num_staged_ > 0 ? "the peer closed it in the middle of a message" : "the peer closed it",
          false);
    } else if (errno == EAGAIN) {
      readable = false;
    } else if (errno == EFAULT) {
      break_off("a buffer that this rank receives into cannot be written", false);
    } else if (errno != EINTR) {
      break_off("it broke: " + std::system_category().message(errno), false);
    }
  }
  return any;
}

void TcpStream::received(size_t bytes, TcpSink& sink) {
  bytes_received_ += bytes;
  const size_t to_payload = std::min(bytes, payload_left_);
  payload_got_ += to_payload;
  payload_left_ -= to_payload;
  if (to_payload > 0 && payload_left_ == 0) finish_message(sink);
  num_staged_ += bytes - to_payload;
  parse(sink);
}

void TcpStream::parse(TcpSink& sink) {
  size_t at = 0;
  while (!broken_ && payload_left_ == 0 && num_staged_ - at >= kTcpHeaderBytes) {
    TcpHeader header;
    std::memcpy(header.data(), staging_.data() + at, kTcpHeaderBytes);
    const std::optional<TcpFrame> frame = decode_tcp_frame(header);
    if (!frame) return break_off("the data received was damaged in transit or is not ringtree's", true);
    if (frame->sequence != awaited_sequence_++) return break_off("frames arrived out of order", true);
    at += kTcpHeaderBytes;
    if (!begin(*frame, sink)) return;
    const size_t here = std::min(payload_left_, num_staged_ - at);
    if (here > 0) std::memcpy(payload_, staging_.data() + at, here);
    at += here;
    payload_got_ = here;
    payload_left_ -= here;
    if (frame->type == TcpFrameType::message && payload_left_ == 0) finish_message(sink);
  }
  num_staged_ -= at;
  if (at > 0 && num_staged_ > 0) std::memmove(staging_.data(), staging_.data() + at, num_staged_);
}

// False: the stream is broken.
bool TcpStream::begin(const TcpFrame& frame, TcpSink& sink) {
  payload_left_ = 0;
  if (frame.type == TcpFrameType::credit) {
    if (sink.credit(frame)) return true;
    break_off("a credit arrived for messages that were never sent", true);
    return false;
  }
  incoming_ = frame;
  payload_ = sink.room_for(frame);
  payload_left_ = frame.bytes;
  if (payload_) return true;
  break_off("an impossible message arrived: link " + std::to_string(frame.link) + ", number " +
                std::to_string(frame.number) + ", " + std::to_string(frame.bytes) + " bytes",
            true);
  return false;
}

void TcpStream::finish_message(TcpSink& sink) {
  if (incoming_.has_payload_crc && crc32c(payload_, incoming_.bytes) != incoming_.payload_crc)
    return break_off("a message was damaged in transit (CRC-32C)", true);
  sink.deliver(incoming_);
}

void TcpStream::break_off(std::string reason, bool corrupt) {
  broken_ = true;
  corrupt_ = corrupt;
  reason_ = std::move(reason);
}

bool TcpStream::all_acknowledged() const { return !socket_.valid() || ringtree::all_acknowledged(socket_.get()); }

}  // namespace ringtree
