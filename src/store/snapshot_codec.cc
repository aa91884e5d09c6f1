#include "store/snapshot_codec.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "hash/xxhash/xxhash.h"
#include "segue/error.h"

namespace segue {
namespace {

constexpr std::string_view kMagic = "SEGUESNP";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kItemBytes = 24;

static_assert(std::endian::native == std::endian::little,
              "the layout is little endian and written as it lies in memory");

class Writer {
 public:
  template <typename Number>
  void number(Number value) {
    raw(std::as_bytes(std::span(&value, 1)));
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void sized(std::span<const std::byte> bytes) {
    number(static_cast<std::uint64_t>(bytes.size()));
    raw(bytes);
  }
  void text(std::string_view text) { sized(std::as_bytes(std::span(text.data(), text.size()))); }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    std::memcpy(&value, take(sizeof(Number)).data(), sizeof(Number));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      throw InvalidSessionFile("the saved state is cut short: " + std::to_string(size) +
                               " bytes are announced and " + std::to_string(bytes_.size() - at_) +
                               " are there");
    }
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return part;
  }
  std::span<const std::byte> sized() { return take(number<std::uint64_t>()); }
  std::string text() {
    const auto part = sized();
    std::string out(part.size(), '\0');
    if (!part.empty()) std::memcpy(out.data(), part.data(), part.size());
    return out;
  }
  bool at_end() const { return at_ == bytes_.size(); }
  // How many of `each` bytes can still follow: the bound of any count that is read.
  std::uint64_t room_for(std::size_t each) const { return (bytes_.size() - at_) / each; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

std::shared_ptr<const StateBlob> blob_of(std::span<const std::byte> bytes) {
  return std::make_shared<const StateBlob>(bytes.begin(), bytes.end());
}

Record read_record(Reader& in) {
  const auto count = in.number<std::uint64_t>();
  if (count > in.room_for(kItemBytes)) {
    throw InvalidSessionFile("the saved state is damaged: it announces " + std::to_string(count) +
                             " items, more than it can hold");
  }
  std::vector<PromptItem> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    PromptItem item;
    item.token = in.number<std::int32_t>();
    item.n_positions = in.number<std::int32_t>();
    item.media_high = in.number<std::uint64_t>();
    item.media_low = in.number<std::uint64_t>();
    if (item.n_positions < 1 || item.token < kNoToken) {
      throw InvalidSessionFile("the saved state is damaged: item " + std::to_string(i) +
                               " is none that a model reads");
    }
    items.push_back(item);
  }
  return Record(std::move(items));
}

Checkpoints read_checkpoints(Reader& in, ItemCount record_length) {
  Checkpoints out;
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = in.number<std::uint64_t>();
    if (length == 0 || length > static_cast<std::uint64_t>(record_length.value)) {
      throw InvalidSessionFile("the saved state is damaged: a checkpoint at " +
                               std::to_string(length) + " of " +
                               std::to_string(record_length.value) + " items");
    }
    out.add({.length = ItemCount(static_cast<std::int64_t>(length)), .blob = blob_of(in.sized())});
  }
  return out;
}

}  // namespace

std::vector<std::byte> encode_snapshot(const Snapshot& snapshot) {
  Writer payload;
  payload.text(snapshot.fingerprint);
  payload.text(snapshot.cache_namespace);
  payload.number(static_cast<std::uint64_t>(snapshot.record.items().size()));
  for (const PromptItem& item : snapshot.record.items()) {
    payload.number(item.token);
    payload.number(item.n_positions);
    payload.number(item.media_high);
    payload.number(item.media_low);
  }
  payload.sized(snapshot.state != nullptr ? std::span<const std::byte>(*snapshot.state)
                                          : std::span<const std::byte>());
  payload.number(static_cast<std::uint64_t>(snapshot.checkpoints.list().size()));
  for (const Checkpoint& checkpoint : snapshot.checkpoints.list()) {
    payload.number(static_cast<std::uint64_t>(checkpoint.length.value));
    payload.sized(*checkpoint.blob);
  }

  Writer out;
  out.raw(std::as_bytes(std::span(kMagic.data(), kMagic.size())));
  out.number(kVersion);
  out.sized(payload.bytes());
  out.number(
      static_cast<std::uint64_t>(XXH3_64bits(payload.bytes().data(), payload.bytes().size())));
  return std::move(out.bytes());
}

SnapshotPtr decode_snapshot(std::span<const std::byte> bytes) {
  Reader frame(bytes);
  if (std::memcmp(frame.take(kMagic.size()).data(), kMagic.data(), kMagic.size()) != 0) {
    throw InvalidSessionFile("these bytes are no saved state");
  }
  if (const auto version = frame.number<std::uint32_t>(); version != kVersion) {
    throw InvalidSessionFile("the saved state has format version " + std::to_string(version) +
                             "; this program reads version " + std::to_string(kVersion));
  }
  const auto payload = frame.sized();
  const auto checksum = frame.number<std::uint64_t>();
  if (!frame.at_end() || checksum != XXH3_64bits(payload.data(), payload.size())) {
    throw InvalidSessionFile("the saved state is damaged: its checksum does not match");
  }

  Reader in(payload);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->fingerprint = in.text();
  snapshot->cache_namespace = in.text();
  snapshot->record = read_record(in);
  snapshot->state = blob_of(in.sized());
  snapshot->checkpoints = read_checkpoints(in, snapshot->record.length());
  if (!in.at_end()) throw InvalidSessionFile("the saved state is damaged: it has bytes too many");
  return snapshot;
}

}  // namespace segue
