// Tests of Secret: where a job's secret comes from, what is refused, and that it does not stay where others can read
// it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/net/secret.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

constexpr char kFile[] = "RINGTREE_SECRET_FILE";
constexpr char kValue[] = "RINGTREE_SECRET";
const std::string kSixteen = "0123456789abcdef";

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Printable<Secret> && Printable<std::string>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);

// A folder of its own, gone with the test; neither variable is set before or after.
class SecretTest : public ::testing::Test {
 protected:
  SecretTest() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    ::unsetenv(kFile);
    ::unsetenv(kValue);
  }
  ~SecretTest() override {
    for (const std::string& path : made_) ::unlink(path.c_str());
    ::rmdir(folder_.c_str());
    ::unsetenv(kFile);
    ::unsetenv(kValue);
  }

  std::string path(const std::string& name) {
    made_.push_back(folder_ + "/" + name);
    return made_.back();
  }

  std::string file(const std::string& content, mode_t mode = 0600) {
    const std::string name = path("secret" + std::to_string(made_.size()));
    std::ofstream(name) << content;
    EXPECT_EQ(::chmod(name.c_str(), mode), 0);
    return name;
  }

  // The secret of that file as text, or why it is refused.
  static std::string read(const std::string& name) {
    ::setenv(kFile, name.c_str(), 1);
    std::string secret;
    const std::string error = usage_error_of([&] { secret = Secret::from_environment().bytes(); });
    return error.empty() ? secret : error;
  }

  static std::string value() { return std::string(Secret::from_environment().bytes()); }

  std::string folder_ = ::testing::TempDir() + "ringtree-secret-XXXXXX";
  std::vector<std::string> made_;
};

TEST_F(SecretTest, ReadsAFileLessOneNewline) {
  EXPECT_EQ(read(file(kSixteen)), kSixteen);
  EXPECT_EQ(read(file(kSixteen + "\n")), kSixteen);
  EXPECT_EQ(read(file(kSixteen + "\n\n")), kSixteen + "\n");
  EXPECT_EQ(read(file("\n" + kSixteen, 0400)), "\n" + kSixteen);
  const std::string binary("\0\x01\xff\r 0123456789abcdef\0", 22);
  EXPECT_EQ(read(file(binary)), binary);
}

TEST_F(SecretTest, ReadsAFileAgainEachTime) {
  const std::string name = file(kSixteen);
  EXPECT_EQ(read(name), kSixteen);
  EXPECT_EQ(read(name), kSixteen);
  std::ofstream(name) << "another secret, of later";
  EXPECT_EQ(read(name), "another secret, of later");
}

TEST_F(SecretTest, RefusesLengthsOutOfBounds) {
  const std::string longest(4096, 'x');
  EXPECT_EQ(read(file(longest)), longest);
  EXPECT_EQ(read(file(longest + "\n")), longest);
  for (const std::string& content :
       {longest + "x", longest + "x\n", longest + "xx", longest + "\n\n", longest + longest}) {
    EXPECT_TRUE(contains(read(file(content)), "holds more bytes than a secret may have, 16 to 4096")) << content.size();
  }
  EXPECT_TRUE(contains(read(file("")), "a secret of 0 bytes, 16 to 4096"));
  EXPECT_TRUE(contains(read(file("\n")), "a secret of 0 bytes, 16 to 4096"));
  EXPECT_TRUE(contains(read(file("0123456789abcde")), "a secret of 15 bytes, 16 to 4096"));
  EXPECT_TRUE(contains(read(file("0123456789abcde\n")), "a secret of 15 bytes, 16 to 4096"));
}

TEST_F(SecretTest, RefusesAFileThatIsOpenToOthers) {
  for (const mode_t open : {0040, 0020, 0010, 0004, 0002, 0001}) {
    const std::string name = file(kSixteen, 0600 | open);
    EXPECT_TRUE(contains(read(name), "'" + name + "' is open to other users: chmod 600 " + name)) << std::oct << open;
  }
}

TEST_F(SecretTest, RefusesAnotherUsersFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string name = file(kSixteen);
  ASSERT_EQ(::chown(name.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_TRUE(contains(read(name), "belongs to user 12345"));
}

TEST_F(SecretTest, RefusesWhatIsNoRegularFile) {
  const std::string target = file(kSixteen), link = path("link"), fifo = path("fifo");
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read(target), kSixteen);
  EXPECT_TRUE(contains(read(link), "is a symbolic link"));
  EXPECT_TRUE(contains(read(fifo), "is not a regular file"));  // and does not wait for a writer
  EXPECT_TRUE(contains(read(folder_), "is not a regular file"));
  EXPECT_TRUE(contains(read("/dev/zero"), "is not a regular file"));
  EXPECT_TRUE(contains(read(folder_ + "/missing\x1b"), "/missing\\x1b' cannot be read: No such file"));
  EXPECT_TRUE(contains(read(""), "'' cannot be read"));
}

TEST_F(SecretTest, MessagesDoNotContainIt) {
  ::setenv(kValue, "short secret", 1);
  EXPECT_FALSE(contains(usage_error_of([] { Secret::from_environment(); }), "short"));
  EXPECT_FALSE(contains(read(file("short secret")), "short"));
  EXPECT_FALSE(contains(read(file("open secret, long enough", 0644)), "long enough"));
}

TEST_F(SecretTest, TheVariableIsTakenAndKept) {
  ::setenv(kValue, "the first secret of all", 1);
  EXPECT_EQ(value(), "the first secret of all");
  EXPECT_EQ(std::getenv(kValue), nullptr);
  EXPECT_EQ(value(), "the first secret of all");  // the next communicator's
  ::setenv(kValue, "the second secret of all", 1);
  EXPECT_EQ(value(), "the second secret of all");
  EXPECT_EQ(value(), "the second secret of all");
}

TEST_F(SecretTest, TheVariableOfAWrongLengthIsRefusedAndChangesNothing) {
  ::setenv(kValue, kSixteen.c_str(), 1);
  EXPECT_EQ(value(), kSixteen);
  for (const std::string& wrong : {std::string(), std::string(15, 'x'), std::string(4097, 'x')}) {
    ::setenv(kValue, wrong.c_str(), 1);
    EXPECT_TRUE(contains(usage_error_of([] { Secret::from_environment(); }),
                         "RINGTREE_SECRET has " + std::to_string(wrong.size()) + " bytes, 16 to 4096"));
  }
  ::unsetenv(kValue);
  EXPECT_EQ(value(), kSixteen);
  ::setenv(kValue, std::string(4096, 'x').c_str(), 1);
  EXPECT_EQ(value(), std::string(4096, 'x'));
}

TEST_F(SecretTest, TheFileGoesFirst) {
  ::setenv(kValue, "of the variable, unused", 1);
  EXPECT_EQ(read(file("of the file, used")), "of the file, used");
}

TEST_F(SecretTest, ThreadsThatAskAtOnceAllGetIt) {
  ::setenv(kValue, "asked for by many threads", 1);
  std::vector<std::string> got(8);
  std::vector<std::thread> threads;
  for (std::string& place : got) threads.emplace_back([&place] { place = value(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : got) EXPECT_EQ(one, "asked for by many threads");
}

// The environment that a process was started with stays readable in /proc after unsetenv(); so this needs a process
// that was started with the secret: the test runs itself again as one.
TEST(SecretOfAProcess, LeavesNothingInProc) {
  const std::string secret = "secret-of-a-child-process";
  const auto environment_in_proc = [] {
    std::ifstream file("/proc/self/environ");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  if (contains(environment_in_proc(), secret)) {
    EXPECT_EQ(Secret::from_environment().bytes(), secret);
    EXPECT_FALSE(contains(environment_in_proc(), secret));
    return;
  }
  std::string name = "test_net", filter = "--gtest_filter=SecretOfAProcess.LeavesNothingInProc";
  std::string variable = std::string(kValue) + "=" + secret;
  char* const arguments[] = {name.data(), filter.data(), nullptr};
  char* const environment[] = {variable.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(::posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, arguments, environment), 0);
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(SecretValue, NoneIsEmptyAndOfIsNot) {
  EXPECT_TRUE(Secret::none().empty());
  EXPECT_EQ(Secret::none().bytes(), "");
  EXPECT_FALSE(Secret::of("x").empty());
  EXPECT_EQ(Secret::of("x").bytes(), "x");
}

TEST(SecretValue, MovesAndCopies) {
  Secret first = Secret::of("first secret of two");
  const char* const place = first.bytes().data();
  Secret moved = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): what is left behind is the question
  EXPECT_EQ(moved.bytes().data(), place);
  const Secret copy = moved;
  moved = Secret::of("second secret of two");
  EXPECT_EQ(copy.bytes(), "first secret of two");
  EXPECT_EQ(moved.bytes(), "second secret of two");
}

}  // namespace
}  // namespace ringtree::testing
