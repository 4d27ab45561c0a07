// What only the FileStore does: names that are never paths, directories that it refuses, no half-written values.
// What all stores do is in test_store.cpp.
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "core/bootstrap/file_store.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

class FileStoreTest : public ::testing::Test {
 protected:
  FileStoreTest() { path_ = std::filesystem::temp_directory_path() / ("ringtree-" + unique_id()); }
  ~FileStoreTest() override { std::filesystem::remove_all(path_); }
  std::filesystem::path path_;
};

TEST_F(FileStoreTest, file_names_are_never_paths_and_never_collide) {
  EXPECT_EQ(encode_store_file_name("mesh/identity/3"), "mesh%2Fidentity%2F3");
  EXPECT_EQ(encode_store_file_name(".."), "%2E%2E");
  EXPECT_EQ(encode_store_file_name("%2F"), "%252F");
  std::set<std::string> names;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = encode_store_file_name(std::string(1, static_cast<char>(byte)));
    EXPECT_EQ(name.find_first_of("/.\0", 0, 3), std::string::npos);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 256u);
}

TEST_F(FileStoreTest, creates_a_private_directory_with_one_file_a_key) {
  FileStore store(path_);
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  store.set("../escape", "a");
  store.set("../escape", "b");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"%2E%2E%2Fescape"});
}

TEST_F(FileStoreTest, refuses_what_others_may_write_or_is_no_directory) {
  std::filesystem::create_directory(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  EXPECT_TRUE(contains(outcome_of([&] { FileStore store(path_); }), "writable by you only"));
  EXPECT_TRUE(contains(outcome_of([&] { FileStore store("/proc/self/exe"); }), "not a directory"));
  EXPECT_TRUE(
      contains(outcome_of([&] { FileStore store((path_ / "no" / "parent").string()); }), "usage: cannot create"));
}

TEST_F(FileStoreTest, does_not_follow_links_or_read_endless_files) {
  FileStore store(path_);
  std::filesystem::create_symlink("/proc/self/status", path_ / "link");
  EXPECT_TRUE(contains(outcome_of([&] { store.get("link", patience()); }), "other: file store: cannot open link"));
  ASSERT_EQ(::mkfifo((path_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(store.get("fifo", patience()), "");  // returns at all: opening a fifo would wait for a writer
}

TEST_F(FileStoreTest, a_name_too_long_for_a_file_is_a_usage_error) {
  FileStore store(path_);
  EXPECT_TRUE(contains(outcome_of([&] { store.set(std::string(100, '/'), ""); }), "usage: "));
  store.set(std::string(240, 'k'), "fits");
  EXPECT_EQ(store.get(std::string(240, 'k'), patience()), "fits");
}

TEST_F(FileStoreTest, readers_never_see_half_a_value) {
  FileStore store(path_);
  const std::string values[2] = {std::string(300'000, 'a'), std::string(200'000, 'b')};
  store.set("key", values[0]);
  std::atomic<bool> end{false};  // relaxed everywhere: a hint to stop, the threads are joined
  const auto outcomes = run_ranks(2, [&](int rank) {
    if (rank == 0) {
      for (int i = 0; i < 100; ++i) store.set("key", values[i % 2]);
      end.store(true, std::memory_order_relaxed);
      return;
    }
    while (!end.load(std::memory_order_relaxed)) {
      const std::string seen = store.get("key", patience());
      ASSERT_TRUE(seen == values[0] || seen == values[1]) << seen.size() << " bytes";
    }
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

}  // namespace
}  // namespace ringtree::testing
