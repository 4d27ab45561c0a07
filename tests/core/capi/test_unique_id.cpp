// What an id says and which bytes are none; the ports that ids hold until rank 0 comes, and who may come for them.
#include <gtest/gtest.h>

#include <optional>

#include "core/bootstrap/peer.h"
#include "tests/core/capi/capi_ranks.h"
#include "tests/core/capi/host_environment.h"

namespace ringtree::testing {
namespace {

constexpr size_t kMostPorts = 64;  // as docs/c-api.md says
constexpr size_t kRandomDigits = 32, kEndLength = 50;

rtUniqueId id_of(const std::string& text) {
  rtUniqueId id = {};
  text.copy(id.internal, sizeof id.internal - 1);
  return id;
}

rtResult_t join(const rtUniqueId& id, int rank = 0, double timeout_s = 60) {
  const rtConfig_t config = test_config(timeout_s);
  rtComm_t comm = nullptr;
  const rtResult_t result = rtCommInitRankConfig(&comm, 1 + rank, id, rank, &config);
  EXPECT_EQ(comm != nullptr, result == rtSuccess);
  EXPECT_EQ(rtCommDestroy(comm), rtSuccess);
  return result;
}

/// As it would have come from another host: with other digits for it.
std::string from_elsewhere(std::string text) {
  for (size_t i = text.size() - kEndLength + 1; i < text.size() - kRandomDigits - 1; ++i)
    text[i] = text[i] == '0' ? '1' : '0';
  return text;
}

TEST(UniqueId, is_of_one_host_unless_the_environment_says_otherwise) {
  const HostEnvironment none{};
  const size_t before = num_open_descriptors();
  EXPECT_TRUE(contains(new_id().internal, "capi-local-"));
  {
    // A launcher's; without a secret no other host could join.
    const HostEnvironment of_a_launcher{{"MASTER_ADDR", "127.0.0.1"}};
    EXPECT_TRUE(contains(new_id().internal, "capi-local-"));
  }
  EXPECT_EQ(num_open_descriptors(), before);
}

TEST(UniqueId, names_a_port_that_is_open_where_other_hosts_may_come) {
  for (const auto& variable :
       {std::pair<const char*, std::string>{"RINGTREE_IFNAME", "=lo"}, {"RINGTREE_HOSTID", "a"}}) {
    const HostEnvironment environment{variable};
    const size_t before = num_open_descriptors();
    const rtUniqueId id = new_id();
    EXPECT_TRUE(contains(id.internal, "capi-127.0.0.1:")) << id.internal;
    EXPECT_EQ(num_open_descriptors(), before + 1);
    EXPECT_EQ(join(id), rtSuccess) << rtGetLastError(nullptr);
    EXPECT_EQ(num_open_descriptors(), before) << "rank 0 took the port, and gave it back with its communicator";
  }
  const HostEnvironment with_secret{{"MASTER_ADDR", "127.0.0.1"}, {"RINGTREE_SECRET", "of sixteen bytes or more"}};
  EXPECT_TRUE(contains(new_id().internal, "capi-127.0.0.1:"));
}

TEST(UniqueId, is_refused_where_the_environment_makes_no_sense) {
  rtUniqueId id;
  const HostEnvironment no_such{{"RINGTREE_IFNAME", "=none0"}};
  expect_refused(rtGetUniqueId(&id), rtInvalidUsage, "RINGTREE_IFNAME");
}

TEST(UniqueId, of_another_making_is_none) {
  const HostEnvironment none{};
  const std::string local = new_id().internal;
  const std::string end = local.substr(local.size() - kEndLength);
  ASSERT_EQ(local, "capi-local" + end);
  for (const std::string& wrong :
       {std::string(), std::string("nonsense"), local + "0", local.substr(1), "capi-" + end.substr(1),
        "capi-nowhere" + end, "capi-127.0.0.1" + end, "capi-127.0.0.1:0" + end, "capi-0.0.0.0:4000" + end,
        "capi-[::]:4000" + end, "capi-127.0.0.1:65536" + end, "capi-example.org:4000" + end,
        "capi-local" + end.substr(0, end.size() - 1) + "g", "capi-local" + std::string(kEndLength, '-')})
    expect_refused(join(id_of(wrong)), rtInvalidArgument, "was not made by rtGetUniqueId()");
  for (const std::string& whole : {local, "capi-127.0.0.1:4000" + end})
    for (size_t length = 1; length < whole.size(); ++length)
      expect_refused(join(id_of(whole.substr(0, length))), rtInvalidArgument, "did not arrive whole");
}

TEST(UniqueId, of_another_host_is_refused_at_once_if_it_leads_nowhere_from_here) {
  const HostEnvironment none{};
  const std::string local = from_elsewhere(new_id().internal);
  const HostEnvironment by_loopback{{"RINGTREE_IFNAME", "=lo"}};
  for (const std::string& id : {local, from_elsewhere(new_id().internal)})
    for (int rank : {0, 1}) expect_refused(join(id_of(id), rank), rtInvalidUsage, "was made on another host");
}

TEST(UniqueId, serves_once) {
  const HostEnvironment environment{{"RINGTREE_IFNAME", "=lo"}};
  const rtUniqueId id = new_id();
  {
    const Comm first(1, id, 0);
    expect_refused(join(id), rtInvalidUsage, "an id serves once");
    EXPECT_EQ(sum_of_ones(first), rtSuccess);
  }
  expect_refused(join(id), rtInvalidUsage, "does not hold the port 127.0.0.1:");
  EXPECT_EQ(join(id, 1, 0.05), rtTimeout);  // nobody serves it
}

TEST(UniqueId, is_for_the_rank_0_whose_process_made_it) {
  const HostEnvironment environment{{"RINGTREE_IFNAME", "=lo"}};
  std::string text = new_id().internal;
  text.back() = text.back() == '0' ? '1' : '0';
  expect_refused(join(id_of(text)), rtInvalidUsage, "rank 0 must be the process that called rtGetUniqueId()");
}

TEST(UniqueId, holds_its_port_until_many_others_were_made) {
  const HostEnvironment environment{{"RINGTREE_IFNAME", "=lo"}};
  std::vector<rtUniqueId> ids;
  const auto make = [&ids](size_t count) {
    for (size_t i = 0; i < count; ++i) ids.push_back(new_id());
  };
  make(kMostPorts);  // those of earlier tests are gone now
  const size_t before = num_open_descriptors();
  make(kMostPorts + 1);
  EXPECT_EQ(num_open_descriptors(), before);
  expect_refused(join(ids[kMostPorts]), rtInvalidUsage, "the newest 64 count");
  EXPECT_EQ(join(ids[kMostPorts + 1]), rtSuccess) << rtGetLastError(nullptr);
  EXPECT_EQ(join(ids.back()), rtSuccess) << rtGetLastError(nullptr);
}

}  // namespace
}  // namespace ringtree::testing
