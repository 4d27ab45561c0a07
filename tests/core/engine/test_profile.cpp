// The text of a profile: what is read is what is found, one spelling for one profile, and every way to write a rule
// wrongly is an error that names its line. What the engine makes of a profile is not here.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/engine/profile.h"

namespace ringtree {
namespace {

constexpr const char* kText =
    "all_reduce 2 own private 4096 one_shot ll128 0 ordinary 1\n"
    "all_reduce 2 own private 1048576 two_shot simple 32768 ordinary 1\n"
    "all_reduce 2 own private rest two_shot simple 65536 streaming 2\n"
    "all_reduce 4 shared private rest ring simple 0 ordinary 1\n"
    "broadcast 2 own private rest tree ll 0 ordinary 1\n";

std::string algorithm_at(const Profile& profile, size_t bytes) {
  const auto found = profile.find(Collective::all_reduce, {2, true}, bytes);
  return found ? found->algorithm + "/" + protocol_name(found->protocol) : "none";
}

TEST(Profile, FindsTheRuleOfASize) {
  const Profile profile = Profile::parse(kText);
  EXPECT_EQ(algorithm_at(profile, 0), "one_shot/ll128");
  EXPECT_EQ(algorithm_at(profile, 4096), "one_shot/ll128");  // up to and including
  EXPECT_EQ(algorithm_at(profile, 4097), "two_shot/simple");
  EXPECT_FALSE(profile.find(Collective::all_reduce, {2, true}, 1048576)->streaming);
  const Configuration last = *profile.find(Collective::all_reduce, {2, true}, SIZE_MAX);
  EXPECT_EQ(last, (Configuration{"two_shot", Protocol::simple, 65536, true, 2}));
  EXPECT_EQ(last, *profile.find(Collective::all_reduce, {2, true}, 1048577));
}

TEST(Profile, ConcludesNothingFromWhatWasNotMeasured) {
  const Profile profile = Profile::parse(kText);
  EXPECT_TRUE(profile.find(Collective::all_reduce, {4, false}, 8));
  EXPECT_FALSE(profile.find(Collective::all_reduce, {4, true}, 8));  // measured with fewer cores than ranks
  EXPECT_FALSE(profile.find(Collective::all_reduce, {3, true}, 8));
  EXPECT_FALSE(profile.find(Collective::reduce, {2, true}, 8));
  EXPECT_FALSE(Profile().find(Collective::all_reduce, {2, true}, 8));
}

TEST(Profile, RulesForSharedBuffersAreThoseForPrivateOnesWhereNothingElseWasMeasured) {
  const std::string text =
      "all_reduce 2 own private rest ring simple 0 ordinary 1\n"
      "all_reduce 2 own shared 4096 one_shot simple 0 ordinary 1\n"
      "all_reduce 2 own shared rest two_shot simple 0 ordinary 1\n"
      "all_reduce 4 own shared rest two_shot simple 0 ordinary 1\n"
      "broadcast 2 own private rest tree simple 0 ordinary 1\n";
  const Profile profile = Profile::parse(text);
  EXPECT_EQ(profile.text(), text);
  EXPECT_EQ(profile.find(Collective::all_reduce, {2, true, true}, 4096)->algorithm, "one_shot");
  EXPECT_EQ(profile.find(Collective::all_reduce, {2, true, true}, 4097)->algorithm, "two_shot");
  EXPECT_EQ(profile.find(Collective::all_reduce, {2, true, false}, 4096)->algorithm, "ring");
  EXPECT_EQ(profile.find(Collective::broadcast, {2, true, true}, 8)->algorithm, "tree");
  EXPECT_FALSE(profile.find(Collective::all_reduce, {4, true, false}, 8));  // not the other way round
}

TEST(Profile, HasOneSpelling) {
  EXPECT_EQ(Profile::parse(kText).text(), kText);
  EXPECT_EQ(Profile::parse("").text(), "");
  EXPECT_TRUE(Profile::parse("").empty());
  const std::string a = "all_reduce 2 own private rest ring simple 0 ordinary 1\n"
                        "all_reduce 2 own shared rest one_shot simple 0 ordinary 1\n",
                    b = "all_reduce 2 shared private rest tree simple 0 ordinary 1\n",
                    c = "reduce 2 shared private rest tree simple 0 ordinary 1\n";
  EXPECT_EQ(Profile::parse(c + a + b).text(), b + a + c);
}

TEST(Profile, ARuleForSeveralHostsHoldsForThemAlone) {
  const std::string text =
      "all_reduce 4 own private rest ring simple 0 ordinary 1\n"
      "all_reduce 2x2 own private rest tree simple 0 ordinary 1\n"
      "all_reduce 4x1 own private rest pat simple 0 ordinary 1\n";
  const Profile profile = Profile::parse(text);
  EXPECT_EQ(profile.text(), text);
  const auto algorithm_on = [&](int hosts) {
    const auto found = profile.find(Collective::all_reduce, {4, true, false, hosts}, 8);
    return found ? found->algorithm : "none";
  };
  EXPECT_EQ(algorithm_on(1), "ring");
  EXPECT_EQ(algorithm_on(2), "tree");
  EXPECT_EQ(algorithm_on(4), "pat");
  EXPECT_EQ(algorithm_on(0), "none");
  EXPECT_FALSE(profile.find(Collective::all_reduce, {6, true, false, 3}, 8));
}

TEST(Profile, SaysAConfigurationInWords) {
  EXPECT_EQ((Configuration{"ring", Protocol::simple, 0, false, 1}).to_string(), "ring/simple");
  EXPECT_EQ((Configuration{"two_shot", Protocol::simple, 32768, true, 2}).to_string(),
            "two_shot/simple, slices of 32768 bytes, streaming, 2 channels");
}

struct Mistake {
  const char* text;
  const char* said;
};

class ProfileMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(ProfileMistakes, AreNamedWithTheirLine) {
  try {
    Profile::parse(GetParam().text);
    FAIL() << "was read: " << GetParam().text;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().said), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, ProfileMistakes,
    ::testing::Values(
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary 1", "line 1: the line is incomplete"},
        Mistake{"\n", "line 1: a rule must have ten words"},
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary\n", "line 1: a rule must have ten words"},
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary 1 1\n", "line 1: a rule must have ten words"},
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary 1 \n", "line 1: a rule must have ten words"},
        Mistake{"all_reduce  2 own private rest ring simple 0 ordinary 1\n", "line 1: a rule must have ten words"},
        Mistake{"scan 2 own private rest ring simple 0 ordinary 1\n", "line 1: unknown collective 'scan'"},
        Mistake{"all_reduce 0 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '0'"},
        Mistake{"all_reduce 02 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '02'"},
        Mistake{"all_reduce +2 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '+2'"},
        Mistake{"all_reduce 1x2 own private rest ring simple 0 ordinary 1\n", "invalid number of hosts '1'"},
        Mistake{"all_reduce 2x0 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '0'"},
        Mistake{"all_reduce 2x2x2 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '2x2'"},
        Mistake{"all_reduce x2 own private rest ring simple 0 ordinary 1\n", "invalid number of hosts ''"},
        Mistake{"all_reduce 2x40000 own private rest ring simple 0 ordinary 1\n", "invalid number of ranks '2x40000'"},
        Mistake{"all_reduce 2x2 own private rest ring ll 0 ordinary 1\n", "between hosts the protocol must be simple"},
        Mistake{"all_reduce 2 mine private rest ring simple 0 ordinary 1\n", "'mine' is neither shared nor own"},
        Mistake{"all_reduce 2 own mapped rest ring simple 0 ordinary 1\n", "'mapped' is neither private nor shared"},
        Mistake{"all_reduce 2 own private 4K ring simple 0 ordinary 1\n", "invalid size in bytes '4K'"},
        Mistake{"all_reduce 2 own private -1 ring simple 0 ordinary 1\n", "invalid size in bytes '-1'"},
        Mistake{"all_reduce 2 own private 18446744073709551616 ring simple 0 ordinary 1\n", "invalid size in bytes"},
        Mistake{"all_reduce 2 own private rest Ring simple 0 ordinary 1\n", "invalid name of an algorithm 'Ring'"},
        Mistake{"all_reduce 2 own private rest ring ll256 0 ordinary 1\n", "invalid protocol 'll256'"},
        Mistake{"all_reduce 2 own private rest ring simple 100 ordinary 1\n", "a slice must be a multiple of 64 bytes"},
        Mistake{"all_reduce 2 own private rest ring simple 33554432 ordinary 1\n", "invalid size of a slice"},
        Mistake{"all_reduce 2 own private rest ring simple 0 nt 1\n", "'nt' is neither ordinary nor streaming"},
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary 65\n", "invalid number of channels '65'"},
        Mistake{"all_reduce 2 own private 8 ring simple 0 ordinary 1\n",
                "line 1: the last rule of a table must say 'rest'"},
        Mistake{
            "all_reduce 2 own private 8 ring simple 0 ordinary 1\nreduce 2 own private rest ring simple 0 ordinary 1\n",
            "line 2: the table before it does not end with 'rest'"},
        Mistake{
            "all_reduce 2 own private 8 ring simple 0 ordinary 1\nall_reduce 2 own private 8 ring ll 0 ordinary 1\n",
            "line 2: sizes must ascend"},
        Mistake{"all_reduce 2 own private rest ring simple 0 ordinary 1\nall_reduce 2 own private rest ring ll 0 "
                "ordinary 1\n",
                "line 2: comes after its table's 'rest'"}));

}  // namespace
}  // namespace ringtree
