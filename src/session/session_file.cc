#include "session/session_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "segue/error.h"

namespace segue {

namespace {

using Json = nlohmann::json;

// The high bit and the line end show files that were cut to 7 bits or had their line ends changed.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 's', 'e', 'g', 'u', 'e', '\r', '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPreambleBytes = kMagic.size() + 4 + 8 + 8;
constexpr std::size_t kChecksumBytes = 8;

std::uint64_t checksum(std::span<const std::byte> content) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037U;
  for (const std::byte each : content) {
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  }
  return hash;
}

template <typename Number>
void put_number(std::vector<std::byte>& out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xFF));
  }
}

template <typename Number>
Number take_number(std::span<const std::byte> from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<Number>(from[i]) << (8 * i));
  }
  return value;
}

// --- options: one list of fields for both directions ---

template <typename Options, typename Field>
void each_sampling_field(Options& o, Field field) {
  field("temperature", o.temperature);
  field("top_k", o.top_k);
  field("top_p", o.top_p);
  field("min_p", o.min_p);
  field("typical_p", o.typical_p);
  field("top_n_sigma", o.top_n_sigma);
  field("xtc_probability", o.xtc_probability);
  field("xtc_threshold", o.xtc_threshold);
  field("dynamic_temperature_range", o.dynamic_temperature_range);
  field("dynamic_temperature_exponent", o.dynamic_temperature_exponent);
  field("penalty_last_n", o.penalty_last_n);
  field("repeat_penalty", o.repeat_penalty);
  field("frequency_penalty", o.frequency_penalty);
  field("presence_penalty", o.presence_penalty);
  field("dry_multiplier", o.dry_multiplier);
  field("dry_base", o.dry_base);
  field("dry_allowed_length", o.dry_allowed_length);
  field("dry_penalty_last_n", o.dry_penalty_last_n);
  field("dry_sequence_breakers", o.dry_sequence_breakers);
  field("mirostat", o.mirostat);
  field("mirostat_tau", o.mirostat_tau);
  field("mirostat_eta", o.mirostat_eta);
  field("seed", o.seed);
  field("logit_bias", o.logit_bias);
}

template <typename Options, typename Field>
void each_exchange_field(Options& o, Field field) {
  field("max_tokens", o.max_tokens);
  field("stop", o.stop);
  field("grammar", o.grammar);
  field("ignore_eos", o.ignore_eos);
  field("top_logprobs", o.top_logprobs);
  field("thinking", o.thinking);
  field("when_busy", o.when_busy);
  field("when_full", o.when_full);
}

constexpr const char* name_of(WhenBusy when) {
  return when == WhenBusy::transient ? "transient" : "refuse";
}
constexpr const char* name_of(WhenFull when) {
  return when == WhenFull::drop_oldest ? "drop_oldest" : "refuse";
}

struct WriteField {
  Json& to;

  template <typename Value>
  void operator()(const char* name, const Value& value) const {
    to[name] = value;
  }
  template <typename Value>
  void operator()(const char* name, const std::optional<Value>& value) const {
    if (value) to[name] = *value;
  }
  void operator()(const char* name, WhenBusy value) const { to[name] = name_of(value); }
  void operator()(const char* name, WhenFull value) const { to[name] = name_of(value); }
  // JSON has no infinity: null forbids the token.
  void operator()(const char* name, const std::map<std::int32_t, float>& biases) const {
    Json list = Json::object();
    for (const auto& [token, bias] : biases) {
      list[std::to_string(token)] = std::isinf(bias) ? Json(nullptr) : Json(bias);
    }
    to[name] = std::move(list);
  }
};

struct ReadField {
  const Json& from;

  template <typename Value>
  void operator()(const char* name, Value& value) const {
    if (const auto found = from.find(name); found != from.end()) found->get_to(value);
  }
  template <typename Value>
  void operator()(const char* name, std::optional<Value>& value) const {
    if (const auto found = from.find(name); found != from.end()) value = found->get<Value>();
  }
  void operator()(const char* name, WhenBusy& value) const {
    value = from.value(name, "") == name_of(WhenBusy::transient) ? WhenBusy::transient
                                                                 : WhenBusy::refuse;
  }
  void operator()(const char* name, WhenFull& value) const {
    value = from.value(name, "") == name_of(WhenFull::drop_oldest) ? WhenFull::drop_oldest
                                                                   : WhenFull::refuse;
  }
  void operator()(const char* name, std::map<std::int32_t, float>& biases) const {
    const auto found = from.find(name);
    if (found == from.end()) return;
    for (const auto& [token, bias] : found->items()) {
      biases[static_cast<std::int32_t>(std::stol(token))] =
          bias.is_null() ? -std::numeric_limits<float>::infinity() : bias.get<float>();
    }
  }
};

Json to_json(const SessionOptions& options) {
  Json sampling = Json::object();
  each_sampling_field(options.exchange.sampling, WriteField{sampling});
  Json exchange = Json::object();
  each_exchange_field(options.exchange, WriteField{exchange});
  exchange["sampling"] = std::move(sampling);
  return {{"exchange", std::move(exchange)}, {"cache_namespace", options.cache_namespace}};
}

SessionOptions options_from(const Json& json) {
  SessionOptions options;
  options.cache_namespace = json.value("cache_namespace", "");
  const Json exchange = json.value("exchange", Json::object());
  each_exchange_field(options.exchange, ReadField{exchange});
  const Json sampling = exchange.value("sampling", Json::object());
  each_sampling_field(options.exchange.sampling, ReadField{sampling});
  return options;
}

// --- entries ---

Json to_json(const ConversationEntry& each) {
  Json json = {
      {"id", each.entry.id.value}, {"kind", to_string(each.entry.kind)}, {"text", each.entry.text}};
  if (!each.entry.reasoning.empty()) json["reasoning"] = each.entry.reasoning;
  if (each.written != nullptr) json["written"] = *each.written;
  return json;
}

EntryKind kind_from(const std::string& name) {
  for (const EntryKind kind : {EntryKind::instructions, EntryKind::prompt, EntryKind::response}) {
    if (name == to_string(kind)) return kind;
  }
  throw InvalidSessionFile("not a session file that this version reads: an entry of kind \"" +
                           name + "\"");
}

ConversationEntry entry_from(const Json& json) {
  ConversationEntry each;
  each.entry.id = EntryId{json.at("id").get<std::uint64_t>()};
  each.entry.kind = kind_from(json.at("kind").get<std::string>());
  each.entry.text = json.at("text").get<std::string>();
  each.entry.reasoning = json.value("reasoning", "");
  if (const auto written = json.find("written"); written != json.end()) {
    each.written = std::make_shared<const std::vector<Token>>(written->get<std::vector<Token>>());
  }
  return each;
}

Json header_of(const SavedSession& session) {
  Json entries = Json::array();
  for (const ConversationEntry& each : session.entries) entries.push_back(to_json(each));
  return {{"options", to_json(session.options)},
          {"entries", std::move(entries)},
          {"first_read", session.first_read.value},
          {"vocabulary", session.vocabulary}};
}

SavedSession session_from(const Json& header) {
  SavedSession session;
  session.options = options_from(header.at("options"));
  for (const Json& each : header.at("entries")) session.entries.push_back(entry_from(each));
  session.first_read = EntryId{header.value("first_read", std::uint64_t{0})};
  session.vocabulary = header.value("vocabulary", "");
  return session;
}

}  // namespace

std::vector<std::byte> encode_session(const SavedSession& session) {
  const std::string header = header_of(session).dump();
  std::vector<std::byte> content;
  content.reserve(kPreambleBytes + header.size() + session.state.size() + kChecksumBytes);
  for (const unsigned char each : kMagic) content.push_back(static_cast<std::byte>(each));
  put_number(content, kVersion);
  put_number(content, std::uint64_t{header.size()});
  put_number(content, std::uint64_t{session.state.size()});
  const auto header_bytes = std::as_bytes(std::span(header));
  content.insert(content.end(), header_bytes.begin(), header_bytes.end());
  content.insert(content.end(), session.state.begin(), session.state.end());
  put_number(content, checksum(content));
  return content;
}

SavedSession decode_session(std::span<const std::byte> content) {
  const auto same = [](std::byte a, unsigned char b) { return a == static_cast<std::byte>(b); };
  if (content.size() < kMagic.size() ||
      !std::equal(kMagic.begin(), kMagic.end(), content.begin(),
                  [&](unsigned char b, std::byte a) { return same(a, b); })) {
    throw InvalidSessionFile("this is not a session file");
  }
  if (content.size() < kPreambleBytes + kChecksumBytes) {
    throw InvalidSessionFile("the session file is cut short; it has only " +
                             std::to_string(content.size()) + " bytes");
  }
  const auto version = take_number<std::uint32_t>(content.subspan(kMagic.size()));
  if (version != kVersion) {
    throw InvalidSessionFile("the session file has format " + std::to_string(version) +
                             "; this version of segue reads format " + std::to_string(kVersion));
  }
  const auto header_bytes = take_number<std::uint64_t>(content.subspan(kMagic.size() + 4));
  const auto state_bytes = take_number<std::uint64_t>(content.subspan(kMagic.size() + 12));
  const std::uint64_t body_bytes = content.size() - kPreambleBytes - kChecksumBytes;
  if (header_bytes > body_bytes || state_bytes != body_bytes - header_bytes) {
    throw InvalidSessionFile("the session file is damaged or cut short: it has " +
                             std::to_string(content.size()) +
                             " bytes, not the number that it should have");
  }
  const std::size_t end = content.size() - kChecksumBytes;
  if (checksum(content.first(end)) != take_number<std::uint64_t>(content.subspan(end))) {
    throw InvalidSessionFile("the session file is damaged: its checksum does not match");
  }
  const auto header = content.subspan(kPreambleBytes, header_bytes);
  const auto state = content.subspan(kPreambleBytes + header_bytes, state_bytes);
  try {
    const auto* text = reinterpret_cast<const char*>(header.data());
    SavedSession session = session_from(Json::parse(text, text + header.size()));
    session.state.assign(state.begin(), state.end());
    return session;
  } catch (const Json::exception& error) {
    throw InvalidSessionFile(std::string("the session file's header cannot be read: ") +
                             error.what());
  } catch (const std::logic_error& error) {  // a token id that is no number
    throw InvalidSessionFile(std::string("the session file's header cannot be read: ") +
                             error.what());
  }
}

}  // namespace segue
