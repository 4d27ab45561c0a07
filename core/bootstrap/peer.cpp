// Gathers a rank's identity from the kernel, and writes and reads its record.
// Not the place where identities are compared: that is agreement.h.
#include "core/bootstrap/peer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/bootstrap/unix_socket.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr uint64_t kMagic = 0x49525452;  // "RTRI" in memory
constexpr uint64_t kVersion = 3;
constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxReasonBytes = 1024;
constexpr uint64_t kMaxInt = std::numeric_limits<int>::max();

std::string read_boot_id() {
  constexpr const char* kPath = "/proc/sys/kernel/random/boot_id";
  const Fd file(::open(kPath, O_RDONLY | O_CLOEXEC));
  char buffer[64];
  const ssize_t got = file.valid() ? ::read(file.get(), buffer, sizeof(buffer)) : -1;
  std::string id(buffer, got > 0 ? static_cast<size_t>(got) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  if (id.empty())
    throw WorldError(std::string("cannot read ") + kPath + ": mount /proc, it tells which ranks share a host");
  return id;
}

uint64_t namespace_inode(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0 ? info.st_ino : 0;
}

std::string read_host_name() {
  char buffer[kMaxNameBytes + 1] = {};
  if (::gethostname(buffer, sizeof(buffer) - 1) != 0) return "unknown";
  return buffer;
}

}  // namespace

PeerIdentity describe_self(int rank, int world_size, std::string settings, std::string host_id) {
  if (world_size < 1 || rank < 0 || rank >= world_size) {
    throw UsageError("rank " + std::to_string(rank) + " of " + std::to_string(world_size) +
                     " does not exist: ranks are 0 to world size - 1");
  }
  if (settings.size() > kMaxSettingsBytes) {
    throw UsageError("the settings have " + std::to_string(settings.size()) + " bytes, more than " +
                     std::to_string(kMaxSettingsBytes) + ": agree on a digest of them instead");
  }
  if (host_id.size() > kMaxNameBytes) throw UsageError("a host id has at most 255 bytes: choose a shorter one");
  PeerIdentity self;
  self.rank = rank;
  self.world_size = world_size;
  self.pid = ::getpid();
  self.uid = ::geteuid();
  self.boot_id = read_boot_id();
  self.pid_namespace = namespace_inode("/proc/self/ns/pid");
  self.network_namespace = namespace_inode("/proc/self/ns/net");
  self.host_id = std::move(host_id);
  self.host_name = read_host_name();
  self.socket_name = world_size == 1 ? std::string() : "ringtree-mesh-" + random_hex(16);
  self.token = random_hex(kTokenBytes / 2);
  self.settings = std::move(settings);
  return self;
}

bool share_host(const PeerIdentity& a, const PeerIdentity& b) {
  return a.boot_id == b.boot_id && a.network_namespace == b.network_namespace && a.host_id == b.host_id;
}

std::vector<int> hosts_of(const std::vector<PeerIdentity>& identities) {
  std::vector<int> hosts;
  std::vector<const PeerIdentity*> firsts;
  for (const PeerIdentity& identity : identities) {
    size_t host = 0;
    while (host < firsts.size() && !share_host(*firsts[host], identity)) ++host;
    if (host == firsts.size()) firsts.push_back(&identity);
    hosts.push_back(static_cast<int>(host));
  }
  return hosts;
}

std::string to_text(const PeerIdentity& identity) {
  return "rank " + std::to_string(identity.rank) + " (pid " + std::to_string(identity.pid) + " on " +
         identity.host_name + ")";
}

std::string encode_identity(const PeerIdentity& identity) {
  ByteWriter out;
  out.number(kMagic, 4).number(kVersion, 2);
  out.number(static_cast<uint64_t>(identity.rank), 4).number(static_cast<uint64_t>(identity.world_size), 4);
  out.number(static_cast<uint64_t>(identity.pid), 4).number(identity.uid, 4).text(identity.boot_id);
  out.number(identity.pid_namespace, 8).number(identity.network_namespace, 8);
  out.text(identity.host_id)
      .text(identity.host_name)
      .text(identity.socket_name)
      .text(identity.token)
      .text(identity.settings);
  out.number(identity.addresses.size(), 1);
  for (const std::string& address : identity.addresses) out.text(address);
  return out.text(identity.why_no_address).take();
}

std::optional<PeerIdentity> decode_identity(std::string_view data) {
  ByteReader in(data);
  const bool ours = in.number(4) == kMagic && in.number(2) == kVersion;
  const uint64_t rank = in.number(4);
  const uint64_t world_size = in.number(4);
  const uint64_t pid = in.number(4);
  PeerIdentity identity;
  identity.uid = static_cast<uint32_t>(in.number(4));
  identity.boot_id = in.text(kMaxNameBytes);
  identity.pid_namespace = in.number(8);
  identity.network_namespace = in.number(8);
  identity.host_id = in.text(kMaxNameBytes);
  identity.host_name = in.text(kMaxNameBytes);
  identity.socket_name = in.text(kMaxSocketNameBytes);
  identity.token = in.text(kTokenBytes);
  identity.settings = in.text(kMaxSettingsBytes);
  const uint64_t num_addresses = in.number(1);
  for (uint64_t i = 0; i < num_addresses && in.ok(); ++i) identity.addresses.push_back(in.text(kMaxNameBytes));
  identity.why_no_address = in.text(kMaxReasonBytes);
  if (!in.done() || !ours || rank >= world_size || world_size > kMaxInt || pid > kMaxInt) return std::nullopt;
  if (identity.boot_id.empty() || identity.token.size() != kTokenBytes) return std::nullopt;
  if (identity.socket_name.empty() != (world_size == 1)) return std::nullopt;
  identity.rank = static_cast<int>(rank);
  identity.world_size = static_cast<int>(world_size);
  identity.pid = static_cast<int>(pid);
  return identity;
}

}  // namespace ringtree
