#include "bench/encoder_decoder_model.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/borrowed_tokenizer.h"
#include "bench/gguf_writer.h"
#include "bench/random_values.h"

namespace segue::bench {
namespace {

constexpr std::int32_t kVocabulary = 4096;
constexpr std::int32_t kWidth = 64;
constexpr std::int32_t kHeads = 4;
constexpr std::int32_t kHeadSize = 16;
constexpr std::int32_t kFeedForward = 128;
constexpr std::int32_t kLayers = 2;
constexpr std::int32_t kBuckets = 32;
constexpr std::int32_t kContext = 512;

class Tensors {
 public:
  Tensors(GgufWriter& out, RandomValues& random) : out_(out), random_(random) {}

  void matrix(const std::string& name, std::int64_t in, std::int64_t rows, float scale) {
    const float deviation = scale / std::sqrt(static_cast<float>(in));
    out_.add_tensor(name, GGML_TYPE_F32, in, rows,
                    [this, deviation](std::int64_t, std::span<float> values) {
                      random_.draw(values, deviation);
                    });
  }
  void ones(const std::string& name) {
    out_.add_tensor(name, GGML_TYPE_F32, kWidth, 0, [](std::int64_t, std::span<float> values) {
      std::fill(values.begin(), values.end(), 1.0F);
    });
  }
  // Queries above unit size, so that attention picks few positions instead of averaging all.
  void attention(const std::string& prefix) {
    matrix(prefix + "_q.weight", kWidth, std::int64_t{kHeads} * kHeadSize, 2.0F);
    matrix(prefix + "_k.weight", kWidth, std::int64_t{kHeads} * kHeadSize, 1.0F);
    matrix(prefix + "_v.weight", kWidth, std::int64_t{kHeads} * kHeadSize, 1.5F);
    matrix(prefix + "_o.weight", std::int64_t{kHeads} * kHeadSize, kWidth, 1.5F);
  }
  void feed_forward(const std::string& prefix) {
    ones(prefix + "ffn_norm.weight");
    matrix(prefix + "ffn_up.weight", kWidth, kFeedForward, 1.5F);
    matrix(prefix + "ffn_down.weight", kFeedForward, kWidth, 1.5F);
  }
  void relative_bias(const std::string& name) { matrix(name, kHeads, kBuckets, 1.0F); }

 private:
  GgufWriter& out_;
  RandomValues& random_;
};

void write_keys(GgufWriter& out) {
  const auto set = [&](const std::string& key, std::int32_t value) {
    out.set("t5." + key, static_cast<std::uint32_t>(value));
  };
  out.set("general.architecture", std::string("t5"));
  out.set("general.quantization_version", std::uint32_t{GGML_QNT_VERSION});
  set("block_count", kLayers);
  set("context_length", kContext);
  set("embedding_length", kWidth);
  set("feed_forward_length", kFeedForward);
  set("attention.head_count", kHeads);
  set("attention.key_length", kHeadSize);
  set("attention.value_length", kHeadSize);
  set("attention.relative_buckets_count", kBuckets);
  set("decoder_start_token_id", 0);
  out.set("t5.attention.layer_norm_epsilon", 1e-6F);
  out.set("t5.attention.layer_norm_rms_epsilon", 1e-6F);
}

}  // namespace

std::filesystem::path write_random_encoder_decoder(const std::filesystem::path& directory,
                                                   std::uint64_t seed) {
  const std::filesystem::path path =
      directory / ("random-encoder-decoder-" + std::to_string(seed) + ".gguf");
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directories(directory);

  GgufWriter writer;
  write_keys(writer);
  const BorrowedTokenizer tokenizer = BorrowedTokenizer::qwen2(kVocabulary);
  tokenizer.write_to(writer);
  RandomValues random(seed);
  Tensors tensors(writer, random);
  writer.add_tensor("token_embd.weight", GGML_TYPE_F32, kWidth, tokenizer.size(),
                    [&](std::int64_t, std::span<float> values) { random.draw(values, 1.0F); });
  tensors.matrix("output.weight", kWidth, tokenizer.size(), 3.0F);
  for (std::int32_t layer = 0; layer < kLayers; ++layer) {
    const std::string encoder = "enc.blk." + std::to_string(layer) + ".";
    tensors.ones(encoder + "attn_norm.weight");
    if (layer == 0) tensors.relative_bias(encoder + "attn_rel_b.weight");
    tensors.attention(encoder + "attn");
    tensors.feed_forward(encoder);
    const std::string decoder = "dec.blk." + std::to_string(layer) + ".";
    tensors.ones(decoder + "attn_norm.weight");
    if (layer == 0) tensors.relative_bias(decoder + "attn_rel_b.weight");
    tensors.attention(decoder + "attn");
    tensors.ones(decoder + "cross_attn_norm.weight");
    tensors.attention(decoder + "cross_attn");
    tensors.feed_forward(decoder);
  }
  tensors.ones("enc.output_norm.weight");
  tensors.ones("dec.output_norm.weight");
  writer.write(path);
  return path;
}

}  // namespace segue::bench
