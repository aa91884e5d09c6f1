#include "bench/shaped_model.h"

#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/borrowed_tokenizer.h"
#include "bench/model_shape.h"

namespace segue::bench {
namespace {

// Part of every file's name: raise it when what is written changes.
constexpr const char* kFormat = "v3";

constexpr std::int32_t kTinyVocabulary = 4096;
constexpr std::int32_t kLfm2Vocabulary = 65536;
constexpr std::size_t kCycle = 2048;
constexpr std::uint64_t kCycleSeed = 20;
// Logits of a cycle model: the next word's, and the spread of all others.
constexpr float kPeak = 30.0F;
constexpr float kSpread = 1.5F;

ModelShape tiny_shape(MemoryKind kind) {
  ModelShape shape{.kind = kind,
                   .layers = 4,
                   .width = 128,
                   .heads = 4,
                   .kv_heads = 2,
                   .head_size = 32,
                   .feed_forward = 256,
                   .context = 8192,
                   .type = GGML_TYPE_F16};
  if (kind == MemoryKind::sliding_window) {
    shape.window = 64;
    shape.period = 2;
  }
  if (kind == MemoryKind::hybrid) shape.attention_layers = {1, 3};
  return shape;
}

ModelShape real_shape(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::attention:
      return {.kind = kind,
              .layers = 24,
              .width = 896,
              .heads = 14,
              .kv_heads = 2,
              .head_size = 64,
              .feed_forward = 4864};
    case MemoryKind::sliding_window:
      return {.kind = kind,
              .layers = 18,
              .width = 640,
              .heads = 4,
              .kv_heads = 1,
              .head_size = 256,
              .feed_forward = 2048,
              .window = 512};
    case MemoryKind::hybrid:
      return {.kind = kind,
              .layers = 16,
              .width = 1024,
              .heads = 16,
              .kv_heads = 8,
              .head_size = 64,
              .feed_forward = 4608,
              .attention_layers = {2, 5, 8, 10, 12, 14}};
    case MemoryKind::recurrent:
    case MemoryKind::none:
    case MemoryKind::single_use:
      break;
  }
  throw std::invalid_argument("no real shape for this kind of memory");
}

BorrowedTokenizer real_tokenizer(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::sliding_window:
      return BorrowedTokenizer::gemma();
    case MemoryKind::hybrid:
      return BorrowedTokenizer::qwen2(kLfm2Vocabulary);
    default:
      return BorrowedTokenizer::qwen2();
  }
}

// The words that the model may write, in the order of the cycle.
std::vector<Token> find_words(const BorrowedTokenizer& tokenizer, const GgufWriter& writer,
                              const std::filesystem::path& path, std::size_t most) {
  const std::filesystem::path vocabulary =
      path.string() + "." + std::to_string(::getpid()) + ".vocabulary";
  writer.write_keys(vocabulary);
  std::vector<Token> words = tokenizer.words(vocabulary, most);
  std::filesystem::remove(vocabulary);
  return words;
}

// Which token follows which: the words in a cycle, and every other token somewhere into it, but for
// the line end after "assistant", after which comes "The" (so that no answer begins with white
// space, which some templates trim).
class Cycle {
 public:
  Cycle(const BorrowedTokenizer& tokenizer, const std::vector<Token>& words)
      : size_(words.size()), class_of_(static_cast<std::size_t>(tokenizer.size())) {
    for (std::size_t i = 0; i < class_of_.size(); ++i) class_of_[i] = i % size_;
    predecessor_.assign(class_of_.size(), kNone);
    for (std::size_t i = 0; i < size_; ++i) {
      class_of_[static_cast<std::size_t>(words[i])] = i;
      predecessor_[static_cast<std::size_t>(words[(i + 1) % size_])] = i;
    }
    class_of_[static_cast<std::size_t>(tokenizer.newline())] = size_;
    predecessor_[static_cast<std::size_t>(tokenizer.find("The"))] = size_;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t classes() const { return size_ + 1; }
  // Tokens of one class are followed by the same token.
  std::size_t class_of(std::int64_t token) const {
    return class_of_[static_cast<std::size_t>(token)];
  }
  // The class that this token follows; kNone: it is never written.
  std::size_t predecessor(std::int64_t token) const {
    return predecessor_[static_cast<std::size_t>(token)];
  }

 private:
  std::size_t size_;
  std::vector<std::size_t> class_of_;
  std::vector<std::size_t> predecessor_;
};

void write_cycle(const std::filesystem::path& path, const ModelShape& shape,
                 const BorrowedTokenizer& tokenizer) {
  GgufWriter writer;
  shape.write_keys(writer);
  tokenizer.write_to(writer);
  const Cycle cycle(tokenizer, find_words(tokenizer, writer, path, kCycle));

  RandomValues random(kCycleSeed);
  const auto width = static_cast<std::size_t>(shape.width);
  std::vector<std::vector<float>> codes(cycle.classes(), std::vector<float>(width));
  for (std::vector<float>& code : codes) random.draw(code, 1.0F);

  // What a token is embedded as is the code of its class and a little of its own; a word's row of
  // the output matrix is the code of the class that it follows.
  const float embedding_scale = 1.0F / shape.embedding_multiplier();
  writer.add_tensor("token_embd.weight", shape.type, shape.width, tokenizer.size(),
                    [&](std::int64_t token, std::span<float> values) {
                      random.fill(values, 0.1F);
                      const std::vector<float>& code = codes[cycle.class_of(token)];
                      for (std::size_t i = 0; i < width; ++i) {
                        values[i] = (values[i] + code[i]) * embedding_scale;
                      }
                    });
  const auto size = static_cast<float>(width);
  writer.add_tensor("output.weight", shape.type, shape.width, tokenizer.size(),
                    [&](std::int64_t token, std::span<float> values) {
                      random.fill(values, kSpread / std::sqrt(size));
                      const std::size_t before = cycle.predecessor(token);
                      if (before == Cycle::kNone) return;
                      for (std::size_t i = 0; i < width; ++i) {
                        values[i] += codes[before][i] * kPeak / size;
                      }
                    });
  shape.add_layers(writer, random, {.query = 1.0F, .input = 1.0F, .output = 0.0F});
  writer.write(path);
}

void write_random(const std::filesystem::path& path, const ModelShape& shape,
                  const BorrowedTokenizer& tokenizer, std::uint64_t seed) {
  GgufWriter writer;
  shape.write_keys(writer);
  tokenizer.write_to(writer);
  const auto vocabulary = static_cast<std::size_t>(tokenizer.size());
  std::vector<bool> is_word(vocabulary, false);
  for (const Token word : find_words(tokenizer, writer, path, vocabulary)) {
    is_word[static_cast<std::size_t>(word)] = true;
  }

  RandomValues random(seed);
  writer.add_tensor("token_embd.weight", shape.type, shape.width, tokenizer.size(),
                    [&](std::int64_t, std::span<float> values) {
                      random.draw(values, 1.0F / shape.embedding_multiplier());
                    });
  // Rows of zeros: logit 0, which some word always exceeds by far.
  const float scale = 3.0F / std::sqrt(static_cast<float>(shape.width));
  writer.add_tensor("output.weight", shape.type, shape.width, tokenizer.size(),
                    [&](std::int64_t token, std::span<float> values) {
                      random.draw(values, is_word[static_cast<std::size_t>(token)] ? scale : 0.0F);
                    });
  shape.add_layers(writer, random, {.query = 2.5F, .input = 1.5F, .output = 1.5F});
  writer.write(path);
}

}  // namespace

std::filesystem::path write_random_model(const std::filesystem::path& directory, MemoryKind kind,
                                         std::uint64_t seed) {
  const std::filesystem::path path = directory / (std::string("random-") + to_string(kind) + "-" +
                                                  std::to_string(seed) + "-" + kFormat + ".gguf");
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directories(directory);
  write_random(path, tiny_shape(kind), BorrowedTokenizer::qwen2(kTinyVocabulary), seed);
  return path;
}

std::filesystem::path write_cycle_model(const std::filesystem::path& directory, MemoryKind kind,
                                        ModelScale scale) {
  const bool is_tiny = scale == ModelScale::tiny;
  const std::filesystem::path path =
      directory / (std::string("cycle-") + to_string(kind) + (is_tiny ? "-tiny-" : "-real-") +
                   kFormat + ".gguf");
  if (std::filesystem::exists(path)) return path;
  std::filesystem::create_directories(directory);
  write_cycle(path, is_tiny ? tiny_shape(kind) : real_shape(kind),
              is_tiny ? BorrowedTokenizer::qwen2(kTinyVocabulary) : real_tokenizer(kind));
  return path;
}

}  // namespace segue::bench
