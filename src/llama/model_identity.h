// Which model a file is: a hash that saved states are keyed with.
//
// Covered: each part's size, its first MiBs (the metadata and, in most files, the whole directory
// of tensors), and 256 evenly spaced blocks of the rest with its end; files up to 32 MiB are
// covered whole. A fine-tuned or requantized model differs almost everywhere, so samples find it,
// and they cost milliseconds where a hash over 20 GB would cost more than reading the conversation
// again. Not covered: path and times, so that a copied file still fits its states.
#pragma once

#include <filesystem>
#include <string>

namespace segue {

// 32 hex digits. `parts` is the number of files that the model is split into (llama.cpp's naming).
// Throws InvalidModel where a part cannot be read.
std::string model_identity(const std::filesystem::path& path, int parts);

}  // namespace segue
