#include "fakes/fake_memory.h"

#include <algorithm>
#include <cstring>

namespace segue {
namespace {

constexpr std::uint64_t kMissing = 0xBADBADBADBADBADBULL;
constexpr std::uint64_t kBlobMark = 0x5345475545424C42ULL;

// splitmix64's finisher (Steele, Lea and Flood 2014) over the sum.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b + 0x632BE59BD9B4E019ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

std::uint64_t checksum(std::span<const std::uint64_t> words) {
  std::uint64_t sum = kBlobMark;
  for (const std::uint64_t word : words) sum = mixed(sum, word);
  return sum;
}

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

MemoryTraits fake_traits(MemoryKind kind, std::int64_t window) {
  switch (kind) {
    case MemoryKind::sliding_window:
      return {.kind = kind, .window = window, .forward_only = false};
    case MemoryKind::recurrent:
    case MemoryKind::hybrid:
      return {.kind = kind, .window = 0, .forward_only = true};
    default:
      return {.kind = kind, .window = 0, .forward_only = false};
  }
}

bool FakeMemory::takes(std::int64_t position) const {
  if (position != position_max() + 1) return false;
  if (has_attention() && static_cast<std::int64_t>(attention_.size()) != position) return false;
  return !traits_.forward_only || recurrent_length_ == position;
}

bool FakeMemory::read(Token token, std::int64_t position) {
  if (!takes(position)) return false;

  std::uint64_t digest = mixed(word(token), word(position));
  if (has_attention() && !attention_.empty()) digest = mixed(digest, attention_.back());
  if (has_window()) {
    for (std::int64_t p = std::max<std::int64_t>(0, position - traits_.window); p < position; ++p) {
      const bool there = p >= window_first_;
      digest =
          mixed(digest, there ? window_[static_cast<std::size_t>(p - window_first_)] : kMissing);
    }
  }
  if (traits_.forward_only) digest = mixed(digest, recurrent_);

  if (has_attention()) attention_.push_back(digest);
  if (has_window()) window_.push_back(digest);
  if (traits_.forward_only) {
    recurrent_ = digest;
    recurrent_length_ = position + 1;
  }
  last_ = digest;
  return true;
}

void FakeMemory::forget() {
  if (!has_window()) return;
  const std::int64_t end = window_first_ + static_cast<std::int64_t>(window_.size());
  const std::int64_t first = std::max(window_first_, end - traits_.window - traits_.window / 2);
  window_.erase(window_.begin(), window_.begin() + (first - window_first_));
  window_first_ = first;
}

std::int64_t FakeMemory::position_min() const {
  if (position_max() < 0) return -1;
  if (has_window()) return window_first_;
  return traits_.forward_only ? position_max() : 0;
}

std::int64_t FakeMemory::position_max() const {
  const auto attention_end = static_cast<std::int64_t>(attention_.size());
  if (has_window()) {
    return window_.empty() ? -1 : window_first_ + static_cast<std::int64_t>(window_.size()) - 1;
  }
  if (!has_attention()) return recurrent_length_ - 1;
  return (traits_.forward_only ? std::min(attention_end, recurrent_length_) : attention_end) - 1;
}

bool FakeMemory::remove_from(std::int64_t position) {
  if (position == 0) {
    clear();
    return true;
  }
  if (traits_.forward_only && position < recurrent_length_) return false;
  const auto keep = static_cast<std::size_t>(position);
  if (keep < attention_.size()) attention_.resize(keep);
  if (has_window()) {
    const std::int64_t left = std::max<std::int64_t>(0, position - window_first_);
    if (left < static_cast<std::int64_t>(window_.size())) {
      window_.resize(static_cast<std::size_t>(left));
    }
    // Says yes although nothing of the window may be left.
    if (window_.empty()) window_first_ = position;
  }
  return true;
}

void FakeMemory::clear() { *this = FakeMemory(traits_); }

StateBlob FakeMemory::save(StatePart part) const {
  std::vector<std::uint64_t> words = {kBlobMark, word(static_cast<std::int64_t>(traits_.kind)),
                                      word(static_cast<std::int64_t>(part))};
  const auto add = [&](std::span<const std::uint64_t> values) {
    words.push_back(word(static_cast<std::int64_t>(values.size())));
    words.insert(words.end(), values.begin(), values.end());
  };
  add(part == StatePart::whole ? std::span(attention_) : std::span<const std::uint64_t>());
  // Only what the last token saw, and that token.
  const auto shown = std::min(window_.size(), static_cast<std::size_t>(traits_.saved_window()));
  add(std::span(window_).last(shown));
  words.push_back(word(window_first_ + static_cast<std::int64_t>(window_.size() - shown)));
  words.push_back(recurrent_);
  words.push_back(word(recurrent_length_));
  words.push_back(checksum(words));
  StateBlob blob(words.size() * sizeof(std::uint64_t));
  std::memcpy(blob.data(), words.data(), blob.size());
  return blob;
}

bool FakeMemory::restore(std::span<const std::byte> blob, StatePart part) {
  std::vector<std::uint64_t> words(blob.size() / sizeof(std::uint64_t));
  if (words.size() < 9 || blob.size() % sizeof(std::uint64_t) != 0) return false;
  std::memcpy(words.data(), blob.data(), blob.size());
  if (words.back() != checksum(std::span(words).first(words.size() - 1))) return false;
  if (words[0] != kBlobMark || words[1] != word(static_cast<std::int64_t>(traits_.kind)) ||
      words[2] != word(static_cast<std::int64_t>(part))) {
    return false;
  }
  std::size_t at = 3;
  const auto take = [&] {
    const auto size = static_cast<std::ptrdiff_t>(words[at++]);
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
    at += static_cast<std::size_t>(size);
    return std::vector<std::uint64_t>(first, first + size);
  };
  std::vector<std::uint64_t> attention = take();
  if (part == StatePart::whole) attention_ = std::move(attention);
  window_ = take();
  window_first_ = static_cast<std::int64_t>(words[at++]);
  recurrent_ = words[at++];
  recurrent_length_ = static_cast<std::int64_t>(words[at++]);
  return true;
}

Token fake_choice(std::uint64_t logits, bool endless) {
  constexpr auto kChoices = static_cast<std::uint64_t>(kFakeVocabulary);
  return static_cast<Token>(endless ? 1 + logits % (kChoices - 1) : logits % kChoices);
}

std::vector<Token> fresh_fake_answer(const MemoryTraits& traits, std::span<const Token> prompt,
                                     std::int64_t max_tokens, bool endless) {
  FakeMemory memory(traits);
  std::int64_t position = 0;
  for (const Token token : prompt) memory.read(token, position++);
  std::vector<Token> answer;
  while (static_cast<std::int64_t>(answer.size()) < max_tokens) {
    const Token next = fake_choice(memory.logits(), endless);
    if (next == kFakeEnd) break;
    answer.push_back(next);
    memory.read(next, position++);
  }
  return answer;
}

}  // namespace segue
