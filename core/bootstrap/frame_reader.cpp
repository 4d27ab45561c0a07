// Receiving with SCM_RIGHTS. A descriptor is attached to the first byte of its frame, and the kernel ends a read behind
// bytes that carry descriptors; so by the time a frame's last byte is here its descriptor is, and the order of frames
// is the order of descriptors. Whatever contradicts that is a peer that is not ours.
#include "core/bootstrap/frame_reader.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ringtree {
namespace {

constexpr size_t kReadBytes = kControlHeaderBytes + kMaxControlPayloadBytes;

}  // namespace

FrameReader::State FrameReader::read(int socket, std::vector<ControlMessage>& out) {
  const size_t held = in_.size();
  in_.resize(held + kReadBytes);
  iovec place{in_.data() + held, kReadBytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const int error = errno;
  in_.resize(held + (got > 0 ? static_cast<size_t>(got) : 0));
  if (got < 0) return error == EAGAIN || error == EINTR ? State::idle : State::closed;
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    // The space for one descriptor is padded and may hold two: take all that the kernel opened, or they would leak.
    for (size_t offset = 0; offset + sizeof(int) <= item->cmsg_len - CMSG_LEN(0); offset += sizeof(int)) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(item) + offset, sizeof(fd));
      descriptors_.emplace_back(fd);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) return State::broken;
  if (got == 0) return in_.empty() ? State::closed : State::broken;
  return take_messages(out) ? State::more : State::broken;
}

bool FrameReader::take_messages(std::vector<ControlMessage>& out) {
  size_t at = 0;
  while (in_.size() - at >= kControlHeaderBytes) {
    const std::string_view rest = std::string_view(in_).substr(at);
    const std::optional<ControlHeader> header = decode_control_header(rest);
    if (!header) return false;
    if (rest.size() < kControlHeaderBytes + header->payload_bytes) break;
    if (!is_whole(rest.substr(0, kControlHeaderBytes + header->payload_bytes), *header)) return false;
    ControlMessage message;
    message.type = header->type;
    message.payload = rest.substr(kControlHeaderBytes, header->payload_bytes);
    if (header->has_descriptor) {
      if (descriptors_.empty()) return false;
      message.descriptor = std::move(descriptors_.front());
      descriptors_.pop_front();
    }
    out.push_back(std::move(message));
    at += kControlHeaderBytes + header->payload_bytes;
  }
  in_.erase(0, at);
  // A descriptor that no frame here or under way can own.
  return !(in_.empty() && !descriptors_.empty()) && descriptors_.size() <= 1;
}

}  // namespace ringtree
