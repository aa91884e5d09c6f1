#include "llama/answer_parser.h"

#include <exception>
#include <string>
#include <utility>

#include "chat.h"

namespace segue {

namespace {

class AnswerParser : public OutputParser {
 public:
  explicit AnswerParser(common_chat_parser_params params) : params_(std::move(params)) {}

  ParsedOutput parse(std::string_view text, bool is_partial) const override {
    std::string whole(text);
    try {
      common_chat_msg message = common_chat_parse(whole, is_partial, params_);
      return {.content = std::move(message.content),
              .reasoning = std::move(message.reasoning_content)};
    } catch (const std::exception&) {
      return {.content = std::move(whole), .reasoning = {}};
    }
  }

 private:
  const common_chat_parser_params params_;
};

}  // namespace

std::shared_ptr<const OutputParser> make_answer_parser(const common_chat_params& params) {
  common_chat_parser_params parser(params);
  parser.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
  parser.parse_tool_calls = false;
  try {
    if (!params.parser.empty()) parser.parser.load(params.parser);
  } catch (const std::exception&) {
    return nullptr;
  }
  return std::make_shared<const AnswerParser>(std::move(parser));
}

}  // namespace segue
