// Which chunks each rank holds before and after each collective, and the names. Stated here once more, by hand.
#include <gtest/gtest.h>

#include <vector>

#include "core/schedule/collective.h"
#include "core/schedule/verb.h"

namespace ringtree {
namespace {

void expect_span(ChunkSpan span, int first, int count) {
  EXPECT_EQ(span.first, first);
  EXPECT_EQ(span.count, count);
}

constexpr int kRanks = 3, kChunks = 6, kRoot = 1;

void expect_spans(Collective collective, int rank, ChunkSpan in, ChunkSpan out) {
  SCOPED_TRACE(std::string(collective_name(collective)) + ", rank " + std::to_string(rank));
  const int root = has_root(collective) ? kRoot : 0;
  expect_span(input_span(collective, kRanks, kChunks, root, rank), in.first, in.count);
  expect_span(output_span(collective, kRanks, kChunks, root, rank), out.first, out.count);
}

TEST(Collective, spans) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const ChunkSpan all{0, kChunks}, block{2 * rank, 2}, at_root{0, rank == kRoot ? kChunks : 0};
    expect_spans(Collective::all_reduce, rank, all, all);
    expect_spans(Collective::reduce_scatter, rank, all, block);
    expect_spans(Collective::all_gather, rank, block, all);
    expect_spans(Collective::broadcast, rank, at_root, all);
    expect_spans(Collective::reduce, rank, all, at_root);
    expect_spans(Collective::gather, rank, block, at_root);
    expect_spans(Collective::scatter, rank, at_root, block);
  }
}

TEST(Collective, span_contains_its_chunks_only) {
  const ChunkSpan span{2, 2};
  EXPECT_FALSE(span.contains(1));
  EXPECT_TRUE(span.contains(2));
  EXPECT_TRUE(span.contains(3));
  EXPECT_FALSE(span.contains(4));
  EXPECT_FALSE((ChunkSpan{0, 0}.contains(0)));
}

std::vector<int> ids(const ChunkSpan& span) {
  std::vector<int> all;
  for (int i = 0; i < span.count; ++i) all.push_back(span.id(i));
  return all;
}

// Three ranks, two chunks a block: block src * 3 + dst has chunks 2 * block and 2 * block + 1.
TEST(Collective, all_to_all_turns_rows_into_columns) {
  const ChunkSpan row = input_span(Collective::all_to_all, 3, 18, 0, 1),
                  column = output_span(Collective::all_to_all, 3, 18, 0, 1);
  EXPECT_EQ(ids(row), (std::vector<int>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(ids(column), (std::vector<int>{2, 3, 8, 9, 14, 15}));
  for (int chunk = 0; chunk < 18; ++chunk) {
    EXPECT_EQ(row.contains(chunk), chunk / 6 == 1) << chunk;
    EXPECT_EQ(column.contains(chunk), chunk / 2 % 3 == 1) << chunk;
  }
}

TEST(Collective, properties) {
  using enum Collective;
  for (Collective collective : kCollectives) {
    EXPECT_EQ(reduces(collective), collective == all_reduce || collective == reduce_scatter || collective == reduce);
    EXPECT_EQ(has_root(collective),
              collective == broadcast || collective == reduce || collective == gather || collective == scatter);
    const bool is_whole = collective == all_reduce || collective == broadcast || collective == reduce;
    EXPECT_EQ(has_blocks(collective), !is_whole);
    EXPECT_EQ(num_blocks(collective, 5), is_whole ? 1 : collective == all_to_all ? 25 : 5);
    EXPECT_EQ(blocks_of_rank(collective, 5), is_whole ? 1 : 5);
    EXPECT_EQ(can_be_in_place(collective), collective != all_to_all);
  }
}

TEST(Collective, names_go_there_and_back) {
  for (Collective collective : kCollectives) EXPECT_EQ(collective_from_name(collective_name(collective)), collective);
  EXPECT_EQ(collective_from_name("all_reduce"), Collective::all_reduce);
  EXPECT_EQ(collective_from_name("allreduce"), std::nullopt);
}

TEST(Verb, table_is_in_the_order_of_its_numbers_and_names_go_there_and_back) {
  for (size_t i = 0; i < std::size(kVerbs); ++i) {
    EXPECT_EQ(static_cast<size_t>(kVerbs[i].verb), i);
    EXPECT_EQ(verb_from_name(kVerbs[i].name), kVerbs[i].verb);
  }
  EXPECT_EQ(verb_from_name("recvReduceSend"), std::nullopt);
}

TEST(Verb, name_says_the_shape) {
  for (const VerbShape& shape : kVerbs) {
    const std::string name = shape.name;
    EXPECT_EQ(shape.has_send, name.find("send") != std::string::npos) << name;
    EXPECT_EQ(shape.recv != Arity::none, name.find("recv") != std::string::npos) << name;
    EXPECT_EQ(shape.reduces, name.find("reduce") != std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ringtree
