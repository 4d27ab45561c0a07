// What only the UnixStore does: its name, its life and death, and hostile clients of our own user. Clients of another
// user are refused by SO_PEERCRED in StoreServer::accept_clients; a test of that would need a second user and is not
// here. What all stores do is in test_store.cpp.
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <random>

#include "core/bootstrap/unix_store.h"
#include "core/bootstrap/wire.h"
#include "tests/core/bootstrap/killed_server.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

std::string name_of(const std::string& id) { return "ringtree-" + std::to_string(::geteuid()) + "-" + id; }

// Is the connection closed by the other end (an answer may come first)?
bool is_cut_off(int socket) {
  char buffer[4096];
  while (wait_for(socket, POLLIN, patience())) {
    if (::recv(socket, buffer, sizeof(buffer), 0) <= 0) return true;
  }
  return false;
}

Fd intruder(const std::string& id) {
  for (;;) {
    SocketResult result = connect_abstract(name_of(id));
    if (result.error == 0) return std::move(result.socket);
    if (result.error != EAGAIN) throw WorldError(errno_text("intruder", result.error));
  }
}

TEST(UnixStore, an_id_in_use_is_a_usage_error_and_free_again_afterwards) {
  const std::string id = unique_id();
  {
    UnixStore store(id, 0, patience());
    const std::string outcome = outcome_of([&] { UnixStore second(id, 0, patience()); });
    EXPECT_TRUE(contains(outcome, "usage: another job on this host uses id '" + id + "'; choose another")) << outcome;
  }
  UnixStore again(id, 0, patience());
}

TEST(UnixStore, bad_ids_and_ranks_are_usage_errors) {
  EXPECT_TRUE(contains(outcome_of([] { UnixStore store("", 0, patience()); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([] { UnixStore store(std::string(81, 'i'), 0, patience()); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([] { UnixStore store("x", -1, patience()); }), "usage: "));
  UnixStore longest(unique_id() + std::string(80 - unique_id().size(), 'i'), 0, patience());
}

TEST(UnixStore, connecting_without_rank_0_times_out_and_waits_for_a_late_one) {
  const std::string id = unique_id();
  const std::string outcome = outcome_of([&] { UnixStore store(id, 1, Deadline::after_seconds(0.05)); });
  EXPECT_TRUE(contains(outcome, "timeout: rank 0 did not open the store of id '" + id + "' within 0.")) << outcome;
  EXPECT_EQ(ranks_in_error([&] { UnixStore store(id, 1, Deadline{0}); }), std::vector<int>{0});
  // Rank 1 comes first: it finds nobody, and tries again until rank 0 is there.
  std::optional<UnixStore> late;
  const auto outcomes = run_ranks(2, [&](int rank) {
    if (rank == 0) late.emplace(id, 0, patience());
    if (rank == 1) UnixStore(id, 1, patience()).set("k", "v");
  });
  EXPECT_EQ(outcomes, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(late->get("k", patience()), "v");
}

TEST(UnixStore, who_waits_hears_that_the_server_closes) {
  const std::string id = unique_id();
  std::optional<UnixStore> server;
  server.emplace(id, 0, patience());
  UnixStore client(id, 1, patience());
  const auto outcomes = run_ranks(2, [&](int rank) {
    if (rank == 0) server.reset();
    if (rank == 1) client.get("never", patience());
  });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_TRUE(contains(outcomes[1], "peer: rank 0, which serves the store of id '" + id)) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[1], "'never'")) << outcomes[1];
}

TEST(UnixStore, who_waits_hears_that_the_server_was_killed) {
  const std::string id = unique_id();
  expect_death_of_the_server_is_told([&](int rank) { return UnixStore(id, rank, patience()); });
}

TEST(UnixStore, hostile_frames_are_dropped_and_hurt_nobody) {
  const std::string id = unique_id();
  UnixStore store(id, 0, patience());
  store.set("key", "value");
  std::mt19937 random(20240601);
  std::vector<std::string> attacks;
  for (int i = 0; i < 200; ++i) {
    std::string noise(16 + random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    attacks.push_back(noise);
  }
  // A good header with one field spoilt. Bytes: magic 0-3, version 4, kind 5, key length 6-7, value length 8-11.
  const std::string good = encode_store_frame(StoreFrameKind::set, "key", "other");
  for (const size_t at : {0, 1, 2, 3, 4, 5, 7, 10, 11}) {
    attacks.push_back(good);
    attacks.back()[at] = '\xff';
  }
  attacks.push_back(encode_store_frame(StoreFrameKind::value, "", "an answer as a request"));
  attacks.push_back(encode_store_frame(StoreFrameKind::get, "key", "a get with a value"));
  attacks.push_back(encode_store_frame(StoreFrameKind::set, "", "no key"));
  for (const std::string& attack : attacks) {
    const Fd socket = intruder(id);
    ASSERT_TRUE(write_all(socket.get(), attack, patience()));
    EXPECT_TRUE(is_cut_off(socket.get()));
  }
  EXPECT_EQ(store.get("key", patience()), "value");
}

TEST(UnixStore, silent_and_half_spoken_clients_hold_nobody_up) {
  const std::string id = unique_id();
  UnixStore store(id, 0, patience());
  const std::string request = encode_store_frame(StoreFrameKind::set, "key", "value of an intruder");
  std::vector<Fd> intruders;
  for (size_t i = 0; i < request.size(); ++i) {
    intruders.push_back(intruder(id));
    ASSERT_TRUE(write_all(intruders.back().get(), request.substr(0, i), patience()));
  }
  const auto outcomes = run_ranks(3, [&](int rank) {
    UnixStore client(id, rank + 1, patience());
    client.set(numbered("r", rank), "here");
    for (int other = 0; other < 3; ++other) client.get(numbered("r", other), patience());
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
  EXPECT_TRUE(
      contains(outcome_of([&] { store.get("key", Deadline{0}); }), "timeout: "));  // no half request was carried out
}

TEST(UnixStore, a_full_store_refuses_and_keeps_what_it_has) {
  UnixStore store(unique_id(), 0, patience());
  const std::string large(kMaxStoreValueBytes, 'x');
  std::string outcome;
  int num_stored = 0;
  while (outcome.empty() && num_stored < 100) {
    outcome = outcome_of([&] { store.set(numbered("k", num_stored), large); });
    num_stored += outcome.empty();
  }
  EXPECT_EQ(num_stored, 63);  // 64 MiB hold 63 values of 1 MiB with their keys
  EXPECT_TRUE(contains(outcome, "the store is full")) << outcome;
  EXPECT_EQ(store.get("k0", patience()), large);
}

TEST(StoreFrame, survives_the_round_trip_and_refuses_every_truncation) {
  const std::string frame = encode_store_frame(StoreFrameKind::get, "key", "", 1500);
  const std::optional<StoreHeader> header = decode_store_header(frame);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->kind, StoreFrameKind::get);
  EXPECT_EQ(header->key_bytes, 3u);
  EXPECT_EQ(header->value_bytes, 0u);
  EXPECT_EQ(header->wait_ms, 1500u);
  EXPECT_EQ(header->frame_bytes(), frame.size());
  for (size_t i = 0; i < kStoreHeaderBytes; ++i) EXPECT_FALSE(decode_store_header(frame.substr(0, i)).has_value()) << i;
}

TEST(StoreFrame, refuses_lengths_above_the_limits) {
  const auto readable = [](StoreFrameKind kind, size_t key_bytes, size_t value_bytes) {
    ByteWriter out;
    out.bytes("RTRS").number(1, 1).number(static_cast<uint64_t>(kind), 1).number(key_bytes, 2).number(value_bytes, 4);
    return decode_store_header(out.number(0, 4).take()).has_value();
  };
  EXPECT_TRUE(readable(StoreFrameKind::set, 256, 1 << 20));
  EXPECT_FALSE(readable(StoreFrameKind::set, 257, 0));
  EXPECT_FALSE(readable(StoreFrameKind::set, 0xffff, 0));
  for (const size_t value_bytes : {(1u << 20) + 1, 1u << 31, 0xffffffffu}) {
    EXPECT_FALSE(readable(StoreFrameKind::set, 1, value_bytes)) << value_bytes;
  }
  EXPECT_FALSE(readable(StoreFrameKind::set, 0, 0));
  EXPECT_FALSE(readable(StoreFrameKind::get, 1, 1));
  EXPECT_FALSE(readable(StoreFrameKind::value, 1, 0));
}

}  // namespace
}  // namespace ringtree::testing
