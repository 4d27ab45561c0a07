// Records that ranks read from a store, which others may write, and the headers of its own protocol.
#include "core/bootstrap/peer.h"
#include "core/bootstrap/store_frame.h"
#include "core/net/address.h"
#include "tests/fuzz/fuzz.h"

using namespace ringtree;

std::vector<std::string> fuzz_seeds() {
  PeerIdentity identity;
  identity.rank = 1;
  identity.world_size = 4;
  identity.boot_id = "0c6bd5d1-5b0e-4b38-8a3b-0a4f3c8e7d55";
  identity.host_name = "node";
  identity.socket_name = "ringtree-mesh-0123";
  identity.token = std::string(kTokenBytes, 'a');
  identity.settings = "engine version 2";
  return {encode_identity(identity), encode_store_frame(StoreFrameKind::set, "key", "value"), "10.0.0.1:29500",
          "[fe80::1%eth0]:80"};
}

void fuzz_one(std::string_view input) {
  if (const auto identity = decode_identity(input)) {
    if (encode_identity(*identity) != input) fuzz_fail("an identity with two spellings");
  }
  if (input.size() >= kStoreHeaderBytes) {
    if (const auto header = decode_store_header(input)) {
      if (header->frame_bytes() > (size_t{2} << 20)) fuzz_fail("a length beyond the store's limits");
    }
  }
  if (const auto address = Address::parse(input)) {
    if (Address::parse(address->to_text()) != address) fuzz_fail("an address that cannot be read back");
  }
}
