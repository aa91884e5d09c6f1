#include "settings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <locale>
#include <sstream>
#include <system_error>
#include <utility>

#include "layout.h"
#include "segue/error.h"
#include "suggestion.h"
#include "words.h"

namespace segue::cli {
namespace {

using Values = std::vector<std::string>;

template <class T>
struct Range {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

// Floating numbers are read and written in the classic locale, whatever the user's is.
bool parse_number(const std::string& text, float& number) {
  if (text == "inf" || text == "-inf") {
    const float infinity = std::numeric_limits<float>::infinity();
    number = text[0] == '-' ? -infinity : infinity;
    return true;
  }
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  return (in >> std::noskipws >> number) && in.peek() == std::istringstream::traits_type::eof();
}

template <class T>
bool parse_number(const std::string& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <class T>
std::string format_number(T number) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << number;
  return out.str();
}

// "a whole number from 0 to 2147483647", "a number of at least 0".
template <class T>
std::string describe_range(Range<T> range) {
  constexpr bool kWhole = !std::is_floating_point_v<T>;
  std::string words = kWhole ? "a whole number" : "a number";
  if (kWhole || (range.min != Range<T>{}.min && range.max != Range<T>{}.max)) {
    return words + " from " + format_number(range.min) + " to " + format_number(range.max);
  }
  if (range.min != Range<T>{}.min) words += " of at least " + format_number(range.min);
  if (range.max != Range<T>{}.max) words += " of at most " + format_number(range.max);
  return words;
}

template <class T>
T checked_number(const std::string& text, Range<T> range) {
  T number{};
  if (parse_number(text, number) && number >= range.min && number <= range.max) return number;
  throw InvalidArgument("\"" + text + "\" is not " + describe_range(range));
}

// A setting of one number; `field` gives the option's place.
template <class Field>
Setting number(
    std::string name, std::string help, Field field,
    Range<std::remove_reference_t<decltype(field(std::declval<ExchangeOptions&>()))>> range = {}) {
  Setting setting;
  setting.name = std::move(name);
  setting.value = "N";
  setting.help = std::move(help);
  setting.set = [field, range](ExchangeOptions& options, const Values& values) {
    field(options) = checked_number(values[0], range);
  };
  setting.get = [field](const ExchangeOptions& options) {
    ExchangeOptions copy = options;
    return format_number(field(copy));
  };
  return setting;
}

template <class Field>
Setting texts(std::string name, std::string help, Field field) {
  Setting setting;
  setting.name = std::move(name);
  setting.value = "TEXT";
  setting.help = std::move(help);
  setting.many = true;
  setting.set = [field](ExchangeOptions& options, const Values& values) {
    const bool none = values.size() == 1 && values[0] == "none";
    field(options) = none ? Values{} : values;
  };
  setting.get = [field](const ExchangeOptions& options) {
    ExchangeOptions copy = options;
    std::string list;
    for (const std::string& text : field(copy))
      list += (list.empty() ? "" : " ") + quote_word(text);
    return list.empty() ? std::string("none") : list;
  };
  return setting;
}

// A setting with named values, the first of which has no meaning of its own order.
template <class T, class Field>
Setting choice(std::string name, std::string help, std::vector<std::pair<std::string, T>> choices,
               Field field) {
  Setting setting;
  setting.name = std::move(name);
  for (const auto& [word, value] : choices)
    setting.value += (setting.value.empty() ? "" : "|") + word;
  setting.help = std::move(help);
  setting.set = [choices, field, names = setting.value](ExchangeOptions& options,
                                                        const Values& values) {
    for (const auto& [word, value] : choices) {
      if (word == values[0]) {
        field(options) = value;
        return;
      }
    }
    throw InvalidArgument("\"" + values[0] + "\" is none of " + names);
  };
  setting.get = [choices, field](const ExchangeOptions& options) {
    ExchangeOptions copy = options;
    for (const auto& [word, value] : choices) {
      if (value == field(copy)) return word;
    }
    return std::string();
  };
  return setting;
}

Setting common(Setting setting, std::string alias = {}) {
  setting.common = true;
  setting.alias = std::move(alias);
  return setting;
}

Setting renamed(Setting setting, std::string alias) {
  setting.alias = std::move(alias);
  return setting;
}

Setting max_tokens_setting() {
  Setting setting;
  setting.name = "max_tokens";
  setting.value = "N|none";
  setting.help =
      "end an answer after N tokens; none: when the model ends it, or the context is full";
  setting.common = true;
  setting.set = [](ExchangeOptions& options, const Values& values) {
    options.max_tokens.reset();
    if (values[0] != "none")
      options.max_tokens = checked_number<std::int32_t>(values[0], {.min = 0});
  };
  setting.get = [](const ExchangeOptions& options) {
    return options.max_tokens ? format_number(*options.max_tokens) : std::string("none");
  };
  return setting;
}

Setting seed_setting() {
  Setting setting;
  setting.name = "seed";
  setting.value = "N|random";
  setting.help = "the same seed and prompt give the same answer";
  setting.common = true;
  setting.set = [](ExchangeOptions& options, const Values& values) {
    options.sampling.seed.reset();
    if (values[0] != "random") options.sampling.seed = checked_number<std::uint64_t>(values[0], {});
  };
  setting.get = [](const ExchangeOptions& options) {
    return options.sampling.seed ? format_number(*options.sampling.seed) : std::string("random");
  };
  return setting;
}

Setting logit_bias_setting() {
  Setting setting;
  setting.name = "logit_bias";
  setting.value = "ID=BIAS";
  setting.help = "add to the logit of a token; -inf forbids it";
  setting.many = true;
  setting.set = [](ExchangeOptions& options, const Values& values) {
    std::map<std::int32_t, float> biases;
    for (const std::string& value : values) {
      if (value == "none" && values.size() == 1) break;
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) {
        throw InvalidArgument("\"" + value + "\" is not of the form ID=BIAS");
      }
      const auto token = checked_number<std::int32_t>(value.substr(0, equals), {.min = 0});
      float bias = 0;
      if (!parse_number(value.substr(equals + 1), bias)) {
        throw InvalidArgument("\"" + value + "\" has no number after \"=\"");
      }
      biases[token] = bias;
    }
    options.sampling.logit_bias = std::move(biases);
  };
  setting.get = [](const ExchangeOptions& options) {
    std::string list;
    for (const auto& [token, bias] : options.sampling.logit_bias) {
      list += (list.empty() ? "" : " ") + format_number(token) + "=" + format_number(bias);
    }
    return list.empty() ? std::string("none") : list;
  };
  return setting;
}

Setting grammar_setting() {
  Setting setting;
  setting.name = "grammar";
  setting.value = "FILE";
  setting.help = "GBNF grammar that answers must follow";
  setting.common = true;
  setting.set = [](ExchangeOptions& options, const Values& values) {
    options.grammar = values[0] == "none" ? std::string() : read_text_file(values[0]);
  };
  setting.get = [](const ExchangeOptions& options) {
    if (options.grammar.empty()) return std::string("none");
    return std::to_string(options.grammar.size()) + " bytes";
  };
  return setting;
}

std::vector<Setting> make_settings() {
  using O = ExchangeOptions;
  std::vector<Setting> list;
  const auto add = [&list](Setting setting) { list.push_back(std::move(setting)); };
  add(max_tokens_setting());
  add(common(number("temperature", "how freely words are chosen; 0: always the likeliest",
                    [](O& o) -> float& { return o.sampling.temperature; }, {.min = 0}),
             "temp"));
  add(common(number("top_k", "only the K likeliest tokens; 0: off",
                    [](O& o) -> std::int32_t& { return o.sampling.top_k; }, {.min = 0})));
  add(common(number("top_p", "only the likeliest tokens that sum to P; 1: off",
                    [](O& o) -> float& { return o.sampling.top_p; }, {.min = 0, .max = 1})));
  add(common(number("min_p", "only tokens at least P times as likely as the first; 0: off",
                    [](O& o) -> float& { return o.sampling.min_p; }, {.min = 0, .max = 1})));
  add(seed_setting());
  add(common(
      texts("stop", "end the answer before this text", [](O& o) -> Values& { return o.stop; })));
  add(grammar_setting());
  add(choice<std::optional<bool>>("thinking", "let the model think first, where its template can",
                                  {{"auto", std::nullopt}, {"on", true}, {"off", false}},
                                  [](O& o) -> std::optional<bool>& { return o.thinking; }));
  add(choice<WhenFull>("when_full",
                       "at the end of the context: an error, or forget the oldest turns",
                       {{"refuse", WhenFull::refuse}, {"drop_oldest", WhenFull::drop_oldest}},
                       [](O& o) -> WhenFull& { return o.when_full; }));
  add(choice<bool>("ignore_eos", "write on past the end of the turn",
                   {{"off", false}, {"on", true}}, [](O& o) -> bool& { return o.ignore_eos; }));
  add(renamed(number("typical_p", "locally typical sampling; 1: off",
                     [](O& o) -> float& { return o.sampling.typical_p; }, {.min = 0, .max = 1}),
              "typical"));
  add(number("top_n_sigma", "tokens within N deviations of the best; negative: off",
             [](O& o) -> float& { return o.sampling.top_n_sigma; }));
  add(number("xtc_probability", "how often to leave out the likeliest tokens; 0: off",
             [](O& o) -> float& { return o.sampling.xtc_probability; }, {.min = 0, .max = 1}));
  add(number("xtc_threshold", "which tokens that may be; above 0.5: off",
             [](O& o) -> float& { return o.sampling.xtc_threshold; }, {.min = 0, .max = 1}));
  add(renamed(
      number("dynamic_temperature_range", "temperature follows certainty; 0: off",
             [](O& o) -> float& { return o.sampling.dynamic_temperature_range; }, {.min = 0}),
      "dynatemp_range"));
  add(renamed(number("dynamic_temperature_exponent", "how strongly it does",
                     [](O& o) -> float& { return o.sampling.dynamic_temperature_exponent; }),
              "dynatemp_exp"));
  add(renamed(number("penalty_last_n", "tokens that penalties look back; 0: off, -1: all",
                     [](O& o) -> std::int32_t& { return o.sampling.penalty_last_n; }, {.min = -1}),
              "repeat_last_n"));
  add(number("repeat_penalty", "against any repeated token; 1: off",
             [](O& o) -> float& { return o.sampling.repeat_penalty; }, {.min = 0}));
  add(number("frequency_penalty", "for each time a token was used; 0: off",
             [](O& o) -> float& { return o.sampling.frequency_penalty; }));
  add(number("presence_penalty", "where a token was used at all; 0: off",
             [](O& o) -> float& { return o.sampling.presence_penalty; }));
  add(number("dry_multiplier", "against repeated sequences; 0: off",
             [](O& o) -> float& { return o.sampling.dry_multiplier; }, {.min = 0}));
  add(number("dry_base", "how fast that grows", [](O& o) -> float& { return o.sampling.dry_base; },
             {.min = 0}));
  add(number("dry_allowed_length", "tokens that may repeat freely",
             [](O& o) -> std::int32_t& { return o.sampling.dry_allowed_length; }, {.min = 0}));
  add(number("dry_penalty_last_n", "tokens it looks back; -1: all",
             [](O& o) -> std::int32_t& { return o.sampling.dry_penalty_last_n; }, {.min = -1}));
  add(renamed(texts("dry_sequence_breakers", "texts that end a sequence",
                    [](O& o) -> Values& { return o.sampling.dry_sequence_breakers; }),
              "dry_sequence_breaker"));
  add(number("mirostat", "steer surprise instead of top-k and so on; 0: off, 1, 2",
             [](O& o) -> std::int32_t& { return o.sampling.mirostat; }, {.min = 0, .max = 2}));
  add(renamed(number("mirostat_tau", "the surprise to aim at",
                     [](O& o) -> float& { return o.sampling.mirostat_tau; }, {.min = 0}),
              "mirostat_ent"));
  add(renamed(number("mirostat_eta", "how fast to steer",
                     [](O& o) -> float& { return o.sampling.mirostat_eta; }, {.min = 0}),
              "mirostat_lr"));
  add(logit_bias_setting());
  return list;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = make_settings();
  return list;
}

const Setting& find_setting(std::string_view name) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  std::vector<std::string> names;
  for (const Setting& setting : settings()) {
    if (setting.name == wanted || (!wanted.empty() && setting.alias == wanted)) return setting;
    names.push_back(setting.name);
  }
  std::string message = "no setting is called \"" + std::string(name) + "\"";
  const auto near = suggest(wanted, names);
  message += near ? "; did you mean " + *near + "?" : std::string("; /set lists them");
  throw InvalidArgument(message);
}

void apply_setting(ExchangeOptions& options, std::string_view text) {
  const auto [name, rest] = first_word(text);
  const Setting& setting = find_setting(name);
  const std::vector<std::string> values = split_words(rest);
  if (values.empty() || (values.size() > 1 && !setting.many)) {
    throw InvalidArgument(setting.name + " takes " + (setting.many ? "values" : "one value") +
                          ": " + setting.value);
  }
  try {
    setting.set(options, values);
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(setting.name + ": " + e.what());
  }
}

std::string list_settings(const ExchangeOptions& options, int width) {
  std::size_t longest = 0;
  for (const Setting& setting : settings()) longest = std::max(longest, setting.name.size());
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Setting& setting : settings()) {
    std::string name = setting.name;
    name.resize(longest + 2, ' ');
    rows.emplace_back(name + setting.get(options), setting.help);
  }
  return format_rows(rows, width);
}

std::string read_text_file(const std::string& path) {
  std::error_code ignored;
  // It can be opened, but not read.
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoFailed("cannot read " + path + ": it is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) throw IoFailed("cannot read " + path + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace segue::cli
