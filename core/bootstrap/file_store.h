// FileStore: the store as a directory that every rank can reach: one file a key, written under another name and
// renamed, so that a reader sees a whole value or none (also on NFS, where a rename is atomic and a close makes the
// content visible). Give each job a fresh directory: identities of an earlier job in it are refused, not ignored.
// Whoever makes up the directory's name deletes it afterwards; the store does not. Not for frequent use: a waiting
// get() polls.
#pragma once

#include <string>

#include "core/bootstrap/store.h"

namespace ringtree {

class FileStore : public Store {
 public:
  /// Creates `directory` (mode 0700; its parent must exist) or uses it when it is ours and nobody else may write there.
  /// UsageError otherwise.
  explicit FileStore(const std::string& directory);

  /// In addition to Store: UsageError when the key's file name (percent-encoded) would be longer than 240 bytes.
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Deadline deadline) override;

 private:
  std::string directory_;
};

/// `key` as a file name: letters, digits, '_' and '-' stay, every other byte becomes %XX. Hence never a path, a hidden
/// file or "..".
std::string encode_store_file_name(const std::string& key);

}  // namespace ringtree
