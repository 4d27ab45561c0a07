// docs/algorithms.md says what the schedules say: the committed page equals the generated one.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tools/algorithms_table.h"

namespace ringtree {
namespace {

TEST(AlgorithmsTable, the_committed_page_is_up_to_date) {
  std::ifstream file(RINGTREE_SOURCE_DIR "/docs/algorithms.md");
  ASSERT_TRUE(file) << "docs/algorithms.md is missing: run make tables";
  std::ostringstream committed;
  committed << file.rdbuf();
  EXPECT_TRUE(committed.str() == algorithms_page()) << "docs/algorithms.md is stale: run make tables";
}

TEST(AlgorithmsTable, has_a_row_for_every_algorithm_collective_and_size) {
  const std::string page = algorithms_page();
  size_t rows = 0, expected = 0;
  for (size_t at = page.find("\n| "); at != std::string::npos; at = page.find("\n| ", at + 1)) ++rows;
  for (const std::vector<Algorithm>* table : {&algorithms(), &switch_algorithms()})
    for (const Algorithm& algorithm : *table) expected += 1 + 5 * algorithm.collectives.size();
  EXPECT_EQ(rows, expected + 2 + std::size(kCollectives));  // and the headings
}

}  // namespace
}  // namespace ringtree
