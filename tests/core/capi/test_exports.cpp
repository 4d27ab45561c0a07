// What libringtree.so shows the world is what ringtree.h declares and docs/c-api.md describes, function by function, no
// more and no less; and the name by which programs load it. Reads the library's ELF tables itself: no tool needs to be
// there.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

using Names = std::set<std::string>;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The dynamic tables of a shared library in memory.
class Library {
 public:
  explicit Library(const std::string& path) : bytes_(read_file(path)) {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      throw std::runtime_error(path + " is no 64-bit ELF file");
    for (size_t i = 0; i < header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type == SHT_DYNSYM) symbols_ = section;
      if (section.sh_type == SHT_DYNAMIC) dynamic_ = section;
    }
    const auto strings = at<Elf64_Shdr>(header.e_shoff + symbols_.sh_link * sizeof(Elf64_Shdr));
    strings_at_ = strings.sh_offset;
  }

  /// Defined, and visible to whoever links to the library; not the version that the linker adds as a symbol.
  Names exports() const {
    Names names;
    for (size_t offset = 0; offset < symbols_.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(symbols_.sh_offset + offset);
      const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
      if (defined && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) names.insert(text(symbol.st_name));
    }
    return names;
  }

  std::string soname() const {
    for (size_t offset = 0; offset < dynamic_.sh_size; offset += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(dynamic_.sh_offset + offset);
      if (entry.d_tag == DT_SONAME) return text(entry.d_un.d_val);
    }
    return "";
  }

 private:
  template <typename Entry>
  Entry at(size_t offset) const {
    Entry entry;
    if (offset + sizeof entry > bytes_.size()) throw std::runtime_error("the library ends too early");
    std::memcpy(&entry, bytes_.data() + offset, sizeof entry);
    return entry;
  }
  std::string text(size_t offset) const { return bytes_.c_str() + strings_at_ + offset; }

  std::string bytes_;
  Elf64_Shdr symbols_{}, dynamic_{};
  size_t strings_at_ = 0;
};

/// What follows RT_API in the header, up to its parameters.
Names declared() {
  const std::string header = read_file(RINGTREE_SOURCE_DIR "/include/ringtree.h");
  const std::regex declaration(R"(\nRT_API [^;(]*\b(rt\w+)\()");
  Names names;
  for (std::sregex_iterator match(header.begin(), header.end(), declaration), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST(Exports, are_what_the_header_declares) {
  const Names wanted = declared();
  EXPECT_GT(wanted.size(), 30U) << "the header is not read as it should be";
  EXPECT_EQ(Library(RINGTREE_LIBRARY).exports(), wanted);
}

TEST(Exports, are_each_described) {
  const std::string page = read_file(RINGTREE_SOURCE_DIR "/docs/c-api.md");
  for (const std::string& name : declared())
    EXPECT_TRUE(std::regex_search(page, std::regex("`" + name + "\\b"))) << name << " is missing in docs/c-api.md";
}

TEST(Exports, come_from_a_library_with_a_version) { EXPECT_EQ(Library(RINGTREE_LIBRARY).soname(), "libringtree.so.0"); }

}  // namespace
