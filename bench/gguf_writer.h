// Writes a GGUF model file row by row: keys first, then tensors whose rows are computed when they
// are written, so that a large model needs little memory.
//
// Invariant: add_tensor() only notes what is to come; nothing reaches the disk before write(),
// which puts the file in place whole (a temporary name, then a rename) or not at all. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggml.h"
#include "gguf.h"

namespace segue::bench {

class GgufWriter {
 public:
  // Gives the values of one row; called once for each row, in order.
  using FillRow = std::function<void(std::int64_t row, std::span<float> values)>;

  GgufWriter();

  // For the gguf_set_* functions; owned by the writer.
  gguf_context* keys() { return keys_.get(); }
  void set(const std::string& key, std::uint32_t value);
  void set(const std::string& key, float value);
  void set(const std::string& key, const std::string& value);

  // A matrix of `rows` rows of `row_length` values, or with rows == 0 a vector. A type whose blocks
  // do not divide row_length becomes F32.
  void add_tensor(const std::string& name, ggml_type type, std::int64_t row_length,
                  std::int64_t rows, FillRow fill);

  // The keys alone, as a vocabulary file. Throws std::runtime_error where the disk refuses.
  void write_keys(const std::filesystem::path& path) const;
  // Everything. Throws std::runtime_error where the disk refuses.
  void write(const std::filesystem::path& path);

 private:
  struct Tensor {
    ggml_tensor* shape;  // owned by shapes_
    FillRow fill;
  };
  std::unique_ptr<gguf_context, decltype(&gguf_free)> keys_;
  std::unique_ptr<ggml_context, decltype(&ggml_free)> shapes_;
  std::vector<Tensor> tensors_;
};

}  // namespace segue::bench
