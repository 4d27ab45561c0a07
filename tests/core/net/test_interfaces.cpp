// Tests of interfaces.h: what RINGTREE_IFNAME chooses from a made-up host, and that what the kernel lists is this
// host's own.
#include "core/base/fd.h"
#include "core/net/interfaces.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

Interface interface(const std::string& name, const std::string& address) { return {name, address_of(address)}; }

// As interfaces_that_are_up() would list it: IPv4 first.
const std::vector<Interface>& host() {
  static const std::vector<Interface> all = {
      interface("lo", "127.0.0.1:0"),       interface("eth0", "10.0.0.1:0"),      interface("eth0", "10.0.0.2:0"),
      interface("eth1", "10.1.0.1:0"),      interface("docker0", "172.17.0.1:0"), interface("lo", "[::1]:0"),
      interface("eth0", "[2001:db8::1]:0"), interface("ib0", "[2001:db8::2]:0"),  interface("ib0", "[2001:db8::3]:0")};
  return all;
}

std::string chosen(std::string_view pattern, const std::vector<Interface>& all = host()) {
  std::string text;
  for (const Interface& item : choose_interfaces(all, pattern)) text += item.name + " " + item.address.to_text() + "; ";
  return text;
}

TEST(ChooseInterfaces, ByPrefixInTheKernelsOrder) {
  EXPECT_EQ(chosen("eth"), "eth0 10.0.0.1:0; eth1 10.1.0.1:0; ");
  EXPECT_EQ(chosen("eth1"), "eth1 10.1.0.1:0; ");
  EXPECT_EQ(chosen("ib"), "ib0 [2001:db8::2]:0; ");
}

TEST(ChooseInterfaces, ByExactName) {
  EXPECT_EQ(chosen("=eth0"), "eth0 10.0.0.1:0; ");
  EXPECT_EQ(chosen("=eth0", {interface("eth01", "10.0.0.9:0"), interface("eth0", "10.0.0.1:0")}), "eth0 10.0.0.1:0; ");
}

TEST(ChooseInterfaces, InThePatternsOrderEachOnce) {
  EXPECT_EQ(chosen("ib,eth"), "ib0 [2001:db8::2]:0; eth0 10.0.0.1:0; eth1 10.1.0.1:0; ");
  EXPECT_EQ(chosen("=eth1,eth,e"), "eth1 10.1.0.1:0; eth0 10.0.0.1:0; ");
}

TEST(ChooseInterfaces, OnlyExcludesMeanAllOthers) {
  EXPECT_EQ(chosen("^lo,^docker"), "eth0 10.0.0.1:0; eth1 10.1.0.1:0; ib0 [2001:db8::2]:0; ");
  EXPECT_EQ(chosen("^=eth0,^=l,^=docker0,^ib"), "lo 127.0.0.1:0; eth1 10.1.0.1:0; ");
}

TEST(ChooseInterfaces, ExcludesWinWhereverTheyStand) {
  EXPECT_EQ(chosen("eth,^=eth0"), "eth1 10.1.0.1:0; ");
  EXPECT_EQ(chosen("^=eth0,eth"), "eth1 10.1.0.1:0; ");
  EXPECT_EQ(chosen("^docker,lo"), "lo 127.0.0.1:0; ");  // not as NCCL reads it; the header says so
}

TEST(ChooseInterfaces, PrefersIPv4WhereverItIsListed) {
  EXPECT_EQ(chosen("eth", {interface("eth0", "[2001:db8::1]:0"), interface("eth1", "10.1.0.1:0"),
                           interface("eth0", "10.0.0.1:0"), interface("eth0", "10.0.0.2:0")}),
            "eth0 10.0.0.1:0; eth1 10.1.0.1:0; ");
}

TEST(ChooseInterfaces, PassesOverWhatIsNotThereWhileSomethingIs) {
  EXPECT_EQ(chosen("wlan,eth1"), "eth1 10.1.0.1:0; ");
}

TEST(ChooseInterfaces, SaysWhatThereIsWhenNothingFits) {
  for (const std::string pattern : {"wlan", "=eth", "=eth00", "eth,^e", "^lo,^eth,^docker,^ib", "eth0,^=eth0"}) {
    const std::string message = usage_error_of([&] { choose_interfaces(host(), pattern); });
    EXPECT_TRUE(contains(message, "'" + pattern + "' matches no interface")) << pattern << ": " << message;
    EXPECT_TRUE(contains(message, "eth0 (10.0.0.1), eth0 (10.0.0.2), eth1 (10.1.0.1)")) << message;
    EXPECT_TRUE(contains(message, "ib0 ([2001:db8::3])")) << message;
  }
  EXPECT_TRUE(contains(usage_error_of([] { choose_interfaces({}, "eth"); }), "available: none"));
}

TEST(ChooseInterfaces, RefusesMalformedPatterns) {
  for (const std::string pattern : {"", ",", "eth,", ",eth", "eth,,ib", "^", "=", "^=", "=^lo", "^^lo", "==lo", "eth=0",
                                    "lo^", "eth, ib", " eth", "eth ", "eth/0", "\t"}) {
    const std::string message = usage_error_of([&] { choose_interfaces(host(), pattern); });
    EXPECT_TRUE(contains(message, "is not a list of interfaces")) << "'" << pattern << "': " << message;
    EXPECT_TRUE(contains(message, "eth1 (10.1.0.1)")) << message;
  }
}

TEST(ChooseInterfaces, ShowsPrintableBytesOnly) {
  const std::string message = usage_error_of(
      [] { choose_interfaces({interface("e\xff\n", "10.0.0.1:0")}, std::string_view("\x1b[31m\0\xc3\xa9", 8)); });
  EXPECT_TRUE(contains(message, "'\\x1b[31m\\x00\\xc3\\xa9'")) << message;
  EXPECT_TRUE(contains(message, "e\\xff\\x0a (10.0.0.1)")) << message;
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
}

TEST(InterfacesThatAreUp, AreThisHostsOwnIPv4First) {
  const std::vector<Interface> all = interfaces_that_are_up();
  bool v6_seen = false, loopback_seen = false;
  for (const Interface& item : all) {
    const std::string text = item.name + " " + item.address.to_text();
    EXPECT_EQ(item.address.port(), 0) << text;
    EXPECT_FALSE(item.address.is_wildcard()) << text;
    EXPECT_FALSE(contains(text, "[fe80")) << text;
    EXPECT_FALSE(item.address.family() == AF_INET && v6_seen) << text << " after IPv6";
    v6_seen = v6_seen || item.address.family() == AF_INET6;
    loopback_seen = loopback_seen || item == interface("lo", "127.0.0.1:0");
    // Only an own address can be bound.
    const Fd socket(::socket(item.address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket.get(), item.address.raw(), item.address.size()), 0) << text;
  }
  EXPECT_TRUE(loopback_seen);
}

}  // namespace
}  // namespace ringtree::testing
