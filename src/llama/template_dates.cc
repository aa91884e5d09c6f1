#include "llama/template_dates.h"

#include <array>
#include <regex>

namespace segue {

std::string format_time(const char* format, std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  std::array<char, 256> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), format, &local);
  return {text.data(), length};
}

std::string with_fixed_dates(const std::string& source, std::time_t time) {
  static const std::regex call(R"re(strftime_now\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\))re");
  std::string result;
  auto rest = source.cbegin();
  for (std::sregex_iterator it(source.begin(), source.end(), call), end; it != end; ++it) {
    const std::string format = (*it)[1].matched ? (*it)[1].str() : (*it)[2].str();
    const std::string date = format_time(format.c_str(), time);
    result.append(rest, (*it)[0].first);
    if (date.empty() || date.find_first_of("\"\\") != std::string::npos) {
      result += (*it)[0].str();
    } else {
      result += '"' + date + '"';
    }
    rest = (*it)[0].second;
  }
  result.append(rest, source.cend());
  return result;
}

}  // namespace segue
