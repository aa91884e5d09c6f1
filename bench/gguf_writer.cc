#include "bench/gguf_writer.h"

#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace segue::bench {
namespace {

constexpr std::size_t kMostTensors = 1024;

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + "." + std::to_string(::getpid()) + ".partial";
}

void pad(std::ofstream& out, std::size_t written, std::size_t alignment) {
  const std::vector<char> zeros((alignment - written % alignment) % alignment, 0);
  out.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
}

void write_tensor(std::ofstream& out, const ggml_tensor& shape, const GgufWriter::FillRow& fill) {
  const std::int64_t length = shape.ne[0];
  const std::int64_t rows = ggml_nrows(&shape);
  std::vector<float> values(static_cast<std::size_t>(length));
  std::vector<char> bytes(ggml_row_size(shape.type, length));
  for (std::int64_t row = 0; row < rows; ++row) {
    fill(row, values);
    ggml_quantize_chunk(shape.type, values.data(), bytes.data(), 0, 1, length, nullptr);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

GgufWriter::GgufWriter()
    : keys_(gguf_init_empty(), gguf_free),
      shapes_(ggml_init({.mem_size = kMostTensors * ggml_tensor_overhead(),
                         .mem_buffer = nullptr,
                         .no_alloc = true}),
              ggml_free) {}

void GgufWriter::set(const std::string& key, std::uint32_t value) {
  gguf_set_val_u32(keys_.get(), key.c_str(), value);
}

void GgufWriter::set(const std::string& key, float value) {
  gguf_set_val_f32(keys_.get(), key.c_str(), value);
}

void GgufWriter::set(const std::string& key, const std::string& value) {
  gguf_set_val_str(keys_.get(), key.c_str(), value.c_str());
}

void GgufWriter::add_tensor(const std::string& name, ggml_type type, std::int64_t row_length,
                            std::int64_t rows, FillRow fill) {
  if (row_length % ggml_blck_size(type) != 0) type = GGML_TYPE_F32;
  ggml_tensor* shape = rows == 0 ? ggml_new_tensor_1d(shapes_.get(), type, row_length)
                                 : ggml_new_tensor_2d(shapes_.get(), type, row_length, rows);
  ggml_set_name(shape, name.c_str());
  gguf_add_tensor(keys_.get(), shape);
  tensors_.push_back({shape, std::move(fill)});
}

void GgufWriter::write_keys(const std::filesystem::path& path) const {
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> only_keys(gguf_init_empty(), gguf_free);
  gguf_set_kv(only_keys.get(), keys_.get());
  if (!gguf_write_to_file(only_keys.get(), path.c_str(), /*only_meta=*/true)) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

void GgufWriter::write(const std::filesystem::path& path) {
  const std::filesystem::path partial = temporary_name(path);
  try {
    if (!gguf_write_to_file(keys_.get(), partial.c_str(), /*only_meta=*/true)) {
      throw std::runtime_error("cannot write " + partial.string());
    }
    std::ofstream out(partial, std::ios::binary | std::ios::app);
    const std::size_t alignment = gguf_get_alignment(keys_.get());
    for (const Tensor& tensor : tensors_) {
      write_tensor(out, *tensor.shape, tensor.fill);
      pad(out, ggml_nbytes(tensor.shape), alignment);
    }
    out.close();
    if (!out) throw std::runtime_error("cannot write " + partial.string());
    std::filesystem::rename(partial, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw;
  }
}

}  // namespace segue::bench
