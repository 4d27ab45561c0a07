// Tests of Address: text to bytes and back, what is refused, what kind of address one is, and what resolver and kernel
// say of this host. The names asked for are answered without a network.
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <random>

#include "core/base/fd.h"
#include "core/net/address.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

std::string back_and_forth(const std::string& text) {
  const std::optional<Address> address = Address::parse(text);
  return address ? address->to_text() : "(refused)";
}

TEST(Address, ReadsIPv4) {
  const Address address = address_of("10.20.30.40:258");
  sockaddr_in raw;
  ASSERT_EQ(address.size(), sizeof(raw));
  std::memcpy(&raw, address.raw(), sizeof(raw));
  EXPECT_EQ(address.family(), AF_INET);
  EXPECT_EQ(raw.sin_family, AF_INET);
  EXPECT_EQ(ntohl(raw.sin_addr.s_addr), 0x0a141e28u);
  EXPECT_EQ(ntohs(raw.sin_port), 258);
  EXPECT_EQ(address.port(), 258);
}

TEST(Address, ReadsIPv6) {
  const Address address = address_of("[2001:db8::ff00:42]:65535");
  sockaddr_in6 raw;
  ASSERT_EQ(address.size(), sizeof(raw));
  std::memcpy(&raw, address.raw(), sizeof(raw));
  const unsigned char expected[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42};
  EXPECT_EQ(address.family(), AF_INET6);
  EXPECT_EQ(std::memcmp(&raw.sin6_addr, expected, sizeof(expected)), 0);
  EXPECT_EQ(ntohs(raw.sin6_port), 65535);
  EXPECT_EQ(address.port(), 65535);
  EXPECT_EQ(raw.sin6_scope_id, 0u);
}

TEST(Address, ReadsTheScopeOfLinkLocalAddresses) {
  const auto scope_of = [](const std::string& text) {
    sockaddr_in6 raw;
    std::memcpy(&raw, address_of(text).raw(), sizeof(raw));
    return raw.sin6_scope_id;
  };
  const unsigned lo = ::if_nametoindex("lo");
  ASSERT_GT(lo, 0u);
  EXPECT_EQ(scope_of("[fe80::1%lo]:80"), lo);
  EXPECT_EQ(scope_of("[fe80::1%" + std::to_string(lo) + "]:80"), lo);
  EXPECT_EQ(scope_of("[fe80::1]:80"), 0u);
  EXPECT_EQ(back_and_forth("[fe80::1%lo]:80"), "[fe80::1%lo]:80");
  EXPECT_EQ(back_and_forth("[fe80::1%" + std::to_string(lo) + "]:80"), "[fe80::1%lo]:80");
  EXPECT_EQ(back_and_forth("[fe80::1%4000000000]:80"), "[fe80::1%4000000000]:80");  // no such interface
}

TEST(Address, TextIsTheInverse) {
  for (const std::string text : {"0.0.0.0:0", "255.255.255.255:65535", "127.0.0.1:1", "[::]:0", "[::1]:80",
                                 "[2001:db8::1]:443", "[fe80::1]:80", "[::ffff:10.0.0.1]:80", "[1:2:3:4:5:6:7:8]:9"}) {
    EXPECT_EQ(back_and_forth(text), text);
  }
  EXPECT_EQ(back_and_forth("[0:0:0:0:0:0:0:1]:80"), "[::1]:80");
  EXPECT_EQ(back_and_forth("[2001:DB8::1]:80"), "[2001:db8::1]:80");
}

TEST(Address, TextIsTheInverseOfRandomAddresses) {
  std::mt19937 random(20260201);
  for (int i = 0; i < 2'000; ++i) {
    sockaddr_in6 raw{};
    raw.sin6_family = AF_INET6;
    raw.sin6_port = static_cast<uint16_t>(random());
    for (auto& byte : raw.sin6_addr.s6_addr) byte = random() % 3 == 0 ? static_cast<uint8_t>(random()) : 0;
    const Address address = Address::from_raw(reinterpret_cast<const sockaddr*>(&raw), sizeof(raw));
    EXPECT_TRUE(Address::parse(address.to_text()) == address) << address.to_text();
  }
}

TEST(Address, RefusesWhatIsNone) {
  for (const std::string text : {"",
                                 ":",
                                 "80",
                                 "10.0.0.1",
                                 "10.0.0.1:",
                                 ":80",
                                 "10.0.0:80",
                                 "10.0.0.0.1:80",
                                 "10.0.0.256:80",
                                 "010.0.0.1:80",
                                 "0x7f.0.0.1:80",
                                 "1:80",
                                 " 10.0.0.1:80",
                                 "10.0.0.1 :80",
                                 "10.0.0.1:80 ",
                                 "10.0.0.1: 80",
                                 "10.0.0.1:+80",
                                 "10.0.0.1:-1",
                                 "10.0.0.1:080",
                                 "10.0.0.1:65536",
                                 "10.0.0.1:4294967376",
                                 "10.0.0.1:8o",
                                 "[10.0.0.1]:80",
                                 "localhost:80",
                                 "::1:80",
                                 "[::1]80",
                                 "[::1]",
                                 "[::1:80",
                                 "::1]:80",
                                 "[]:80",
                                 "[::1::2]:80",
                                 "[::g]:80",
                                 "[::1]:65536",
                                 "[[::1]]:80",
                                 "[::1%lo]:80",
                                 "[2001:db8::1%lo]:80",
                                 "[fe80::1%]:80",
                                 "[fe80::1%0]:80",
                                 "[fe80::1%nosuchnet]:80",
                                 "[fe80::1%an-interface-with-a-long-name]:80",
                                 "[fe80::1%lo%lo]:80",
                                 "[fe80::1%4294967296]:80",
                                 "10.0.0.1%lo:80"}) {
    EXPECT_FALSE(Address::parse(text)) << text;
  }
  using namespace std::string_literals;
  for (const std::string& text : {"10.0.0.1\0:80"s, "10.0.0.1:80\0"s, "[::1\0]:80"s, "[fe80::1%lo\0]:80"s}) {
    EXPECT_FALSE(Address::parse(text)) << "zero byte in " << text.c_str();
  }
}

TEST(Address, EqualIfEverythingIs) {
  const Address address = address_of("[fe80::1%1]:80");
  EXPECT_TRUE(address == address_of("[fe80::1%1]:80"));
  EXPECT_FALSE(address == address_of("[fe80::1%1]:81"));
  EXPECT_FALSE(address == address_of("[fe80::2%1]:80"));
  EXPECT_FALSE(address == address_of("[fe80::1%2]:80"));
  EXPECT_FALSE(address == address_of("[fe80::1]:80"));
  EXPECT_TRUE(address_of("10.0.0.1:80") == address_of("10.0.0.1:80"));
  EXPECT_FALSE(address_of("10.0.0.1:80") == address_of("10.0.0.2:80"));
  EXPECT_FALSE(address_of("10.0.0.1:80") == address_of("[::ffff:10.0.0.1]:80"));
}

TEST(Address, WithPortChangesThePortAlone) {
  for (const std::string text : {"10.0.0.1:80", "[fe80::1%1]:80"}) {
    const Address before = address_of(text);
    const Address after = before.with_port(4321);
    EXPECT_EQ(after.port(), 4321);
    EXPECT_EQ(before.port(), 80);
    EXPECT_TRUE(after.with_port(80) == before);
  }
}

TEST(Address, KnowsLoopbackAndWildcard) {
  const auto kind = [](const std::string& text) {
    const Address address = address_of(text);
    return std::string(address.is_loopback() ? "loopback " : "") + (address.is_wildcard() ? "wildcard" : "");
  };
  for (const std::string text :
       {"127.0.0.1:0", "127.0.0.0:1", "127.255.255.255:1", "[::1]:1", "[::ffff:127.1.2.3]:1"}) {
    EXPECT_EQ(kind(text), "loopback ") << text;
  }
  for (const std::string text : {"0.0.0.0:1", "[::]:1", "[::ffff:0.0.0.0]:1"})
    EXPECT_EQ(kind(text), "wildcard") << text;
  for (const std::string text :
       {"126.0.0.1:1", "128.0.0.1:1", "0.0.0.127:1", "1.0.0.0:1", "[::2]:1", "[::127.0.0.1]:1", "[1::1]:1",
        "[::ffff:10.0.0.127]:1", "[::1:ffff:127.0.0.1]:1", "[7f00::]:1", "[::ffff:0.0.0.1]:1", "[::fffe:0:0]:1"}) {
    EXPECT_EQ(kind(text), "") << text;
  }
}

TEST(Address, FromRawRefusesOtherFamiliesAndShortOnes) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  const auto* raw = reinterpret_cast<const sockaddr*>(&path);
  EXPECT_NE(usage_error_of([&] { Address::from_raw(raw, sizeof(path)); }), "");
  EXPECT_NE(usage_error_of([&] { Address::from_raw(nullptr, 16); }), "");
  for (const std::string text : {"10.0.0.1:80", "[::1]:80"}) {
    const Address whole = address_of(text);
    EXPECT_TRUE(Address::from_raw(whole.raw(), whole.size()) == whole);
    for (const socklen_t num_bytes : {socklen_t{0}, socklen_t{1}, socklen_t{2}, whole.size() - 1}) {
      EXPECT_NE(usage_error_of([&] { Address::from_raw(whole.raw(), num_bytes); }), "") << text << num_bytes;
    }
  }
}

TEST(Resolve, DigitsAreTheirOwnAddress) {
  const std::vector<Address> v4 = resolve("10.1.2.3", 80), v6 = resolve("2001:db8::7", 0);
  ASSERT_EQ(v4.size(), 1u);
  ASSERT_EQ(v6.size(), 1u);
  EXPECT_EQ(v4[0].to_text(), "10.1.2.3:80");
  EXPECT_EQ(v6[0].to_text(), "[2001:db8::7]:0");
}

TEST(Resolve, LocalhostIsLoopbackEachAddressOnce) {
  const std::vector<Address> all = resolve("localhost", 1234);
  ASSERT_FALSE(all.empty());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].is_loopback()) << all[i].to_text();
    EXPECT_EQ(all[i].port(), 1234);
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i] == all[j]) << all[i].to_text();
  }
}

TEST(Resolve, NamesAHostThatHasNone) {
  const std::string too_long(80, 'a');  // a label of a name has 63 bytes at most: no server is asked
  EXPECT_TRUE(contains(usage_error_of([&] { resolve(too_long, 80); }), too_long));
  EXPECT_TRUE(contains(usage_error_of([] { resolve("fe80::zz", 80); }), "'fe80::zz'"));
  EXPECT_TRUE(contains(usage_error_of([] { resolve("", 80); }), "''"));
  EXPECT_TRUE(contains(usage_error_of([] { resolve(std::string("127.0.0.1\0x", 11), 80); }), "'127.0.0.1\\x00x'"));
  EXPECT_TRUE(contains(usage_error_of([] { resolve("\x1b[31m::", 80); }), "'\\x1b[31m::'"));
}

TEST(SocketAddresses, OfASocketThatIsBoundOrNot) {
  const Fd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      local(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(remote_address(tcp.get()));
  EXPECT_FALSE(local_address(local.get()));
  EXPECT_FALSE(local_address(-1));
  const Address loopback = address_of("127.0.0.1:0");
  ASSERT_EQ(::bind(tcp.get(), loopback.raw(), loopback.size()), 0);
  const std::optional<Address> bound = local_address(tcp.get());
  ASSERT_TRUE(bound);
  EXPECT_NE(bound->port(), 0);
  EXPECT_TRUE(bound->with_port(0) == loopback);
}

TEST(SourceAddress, IsLoopbackTowardsLoopback) {
  for (const std::string to : {"127.0.0.1:80", "127.0.0.9:0"}) {
    const std::optional<Address> from = source_address_towards(address_of(to));
    ASSERT_TRUE(from) << to;
    EXPECT_EQ(from->to_text(), "127.0.0.1:0") << to;
  }
}

TEST(SourceAddress, NoneWithoutARoute) {
  EXPECT_FALSE(source_address_towards(address_of("[fe80::1]:80")));  // link-local, and nobody said by which interface
}

}  // namespace
}  // namespace ringtree::testing
