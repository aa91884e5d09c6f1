// Files read and written as a whole.
//
// Free functions; thread-safe (two writers of one path: the later rename stays).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace segue {

// Throws IoFailed.
std::vector<std::byte> read_whole_file(const std::filesystem::path& path);

// Writes beside the file, syncs and renames, so that a crash at any moment leaves the old file or
// the new one. Throws IoFailed; the old file is then untouched.
void replace_whole_file(const std::filesystem::path& path, std::span<const std::byte> content);

}  // namespace segue
