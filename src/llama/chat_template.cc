#include "llama/chat_template.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "chat-auto-parser.h"
#include "chat.h"
#include "llama.h"
#include "llama/answer_parser.h"
#include "llama/template_dates.h"
#include "segue/error.h"

namespace segue {

namespace {

// Templates have two or three forms; one whose forms do not repeat gains nothing from keeping them.
constexpr std::size_t kMostForms = 16;

// As llama-common formats them (chat.cpp).
constexpr const char* kDatetimeFormat = "%b %d %Y";
constexpr const char* kDateFormat = "%d %b %Y";

std::string text_of(const llama_vocab* vocab, llama_token token) {
  return token == LLAMA_TOKEN_NULL ? std::string() : common_token_to_piece(vocab, token, true);
}

// "Unset" is llama-common's own default, which is what templates without a switch do anyway.
bool thinking_of(const TemplateOptions& options) { return options.enable_thinking.value_or(true); }

std::vector<common_chat_msg> messages_of(const std::vector<TemplateMessage>& messages) {
  std::vector<common_chat_msg> result;
  result.reserve(messages.size());
  for (const TemplateMessage& message : messages) {
    common_chat_msg& m = result.emplace_back();
    m.role = message.role;
    m.content = message.content;
    m.reasoning_content = message.reasoning;
  }
  return result;
}

[[noreturn]] void throw_failed(const std::string& words) {
  throw TemplateFailed("the chat template failed: " + words +
                       ". Pass another one (ModelOptions::chat_template).");
}

// Whether llama-common renders this template in general code, that is, from the messages as given.
bool is_general_template(const common_chat_template& chat_template) {
  autoparser::generation_params params;
  common_chat_msg message;
  message.role = "user";
  message.content = "x";
  try {
    params.messages = common_chat_msgs_to_json_oaicompat({message});
    return !common_chat_try_specialized_template(chat_template, chat_template.source(), params);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::unique_ptr<LlamaChatTemplate> LlamaChatTemplate::load(const ModelFile& model,
                                                           const std::string& override) {
  std::string source = override;
  if (source.empty()) {
    const char* own = llama_model_chat_template(model.handle(), nullptr);
    if (own == nullptr || *own == '\0') return nullptr;
    source = own;
  }
  const llama_vocab* vocab = model.vocabulary();
  return std::make_unique<LlamaChatTemplate>(std::move(source),
                                             Specials{.bos = text_of(vocab, llama_vocab_bos(vocab)),
                                                      .eos = text_of(vocab, llama_vocab_eos(vocab)),
                                                      .adds_bos = llama_vocab_get_add_bos(vocab)});
}

LlamaChatTemplate::LlamaChatTemplate(std::string source, Specials specials)
    : source_(std::move(source)),
      specials_(std::move(specials)),
      templates_(nullptr, &common_chat_templates_free) {
  const LogRegistration quiet({});
  const std::time_t now = std::time(nullptr);
  datetime_ = '"' + format_time(kDatetimeFormat, now) + '"';
  date_string_ = '"' + format_time(kDateFormat, now) + '"';
  const std::string fixed = with_fixed_dates(source_, now);
  try {
    // Parsed here first: llama-common's own error loses the engine's words. Without a model, since
    // it would also cut an EOS off the end, which belongs to the history.
    if (fixed != "chatml") common_chat_template(fixed, specials_.bos, specials_.eos);
    templates_.reset(
        common_chat_templates_init(nullptr, fixed, specials_.bos, specials_.eos).release());
    template_ = std::make_unique<common_chat_template>(
        common_chat_templates_source(templates_.get()), specials_.bos, specials_.eos);
    supports_thinking_ = common_chat_templates_support_enable_thinking(templates_.get());
  } catch (const std::exception& e) {
    if (!template_) throw_failed(e.what());
    // The question was a rendering that the template refused; the real ones will tell.
  }
  is_general_ = is_general_template(*template_);
}

LlamaChatTemplate::~LlamaChatTemplate() = default;

// llama-common changes messages before it renders them for templates that it has special code for,
// for those without a system role, and for StepFun's (which it knows by this sentence).
bool LlamaChatTemplate::can_render_directly(const std::vector<TemplateMessage>& messages) const {
  if (!is_general_) return false;
  if (template_->source().find("You have access to the following functions in JSONSchema format") !=
      std::string::npos) {
    return false;
  }
  const bool has_system = !messages.empty() && messages.front().role == "system";
  if (has_system && !template_->original_caps().supports_system_role) return false;
  return std::all_of(messages.begin(), messages.end(), [](const TemplateMessage& message) {
    return message.role == "system" || message.role == "user" || message.role == "assistant";
  });
}

common_chat_templates_inputs LlamaChatTemplate::inputs_of(
    const std::vector<TemplateMessage>& messages, const TemplateOptions& options) const {
  common_chat_templates_inputs inputs;
  inputs.messages = messages_of(messages);
  inputs.add_generation_prompt = options.add_generation_prompt;
  inputs.use_jinja = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
  inputs.enable_thinking = thinking_of(options);
  inputs.chat_template_kwargs = {{"datetime", datetime_}, {"date_string", date_string_}};
  return inputs;
}

common_chat_params LlamaChatTemplate::apply(const std::vector<TemplateMessage>& messages,
                                            const TemplateOptions& options) const {
  try {
    common_chat_params params =
        common_chat_templates_apply(templates_.get(), inputs_of(messages, options));
    params.prompt = without_bos(std::move(params.prompt));
    return params;
  } catch (const std::exception& e) {
    throw_failed(e.what());
  }
}

std::string LlamaChatTemplate::render_directly(const std::vector<TemplateMessage>& messages,
                                               const TemplateOptions& options) const {
  try {
    autoparser::generation_params params;
    params.messages = common_chat_msgs_to_json_oaicompat(messages_of(messages));
    params.add_generation_prompt = options.add_generation_prompt;
    params.enable_thinking = thinking_of(options);
    params.extra_context = common_json::object();
    params.extra_context["datetime"] = common_json::parse(datetime_);
    params.extra_context["date_string"] = common_json::parse(date_string_);
    return without_bos(common_chat_template_direct_apply(*template_, params));
  } catch (const std::exception& e) {
    throw_failed(e.what());
  }
}

std::string LlamaChatTemplate::without_bos(std::string text) const {
  if (specials_.adds_bos && !specials_.bos.empty() && text.starts_with(specials_.bos)) {
    text.erase(0, specials_.bos.size());
  }
  return text;
}

RenderedPrompt LlamaChatTemplate::form_of(const common_chat_params& params) const {
  return {.text = {},
          .stop_strings = params.additional_stops,
          .parser = make_answer_parser(params),
          .preserved_tokens = params.preserved_tokens,
          .supports_thinking = params.supports_thinking};
}

RenderedPrompt LlamaChatTemplate::render_fully(const std::vector<TemplateMessage>& messages,
                                               const TemplateOptions& options) const {
  common_chat_params params = apply(messages, options);
  RenderedPrompt rendered = form_of(params);
  if (!options.add_generation_prompt) rendered.parser = nullptr;
  rendered.text = std::move(params.prompt);
  return rendered;
}

std::shared_ptr<const LlamaChatTemplate::AnswerForm> LlamaChatTemplate::known_form(
    std::string_view text, bool thinking) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const AnswerForm> longest;
  for (const auto& form : forms_) {
    if (form->thinking == thinking && text.ends_with(form->beginning) &&
        (!longest || form->beginning.size() > longest->beginning.size())) {
      longest = form;
    }
  }
  return longest;
}

RenderedPrompt LlamaChatTemplate::render(const std::vector<TemplateMessage>& messages,
                                         const TemplateOptions& options) const {
  if (!can_render_directly(messages)) return render_fully(messages, options);
  std::string text = render_directly(messages, options);
  if (!options.add_generation_prompt) {
    RenderedPrompt rendered;
    rendered.text = std::move(text);
    rendered.supports_thinking = supports_thinking_;
    return rendered;
  }
  const bool thinking = thinking_of(options);
  if (const auto form = known_form(text, thinking)) {
    RenderedPrompt rendered = form->rendered;
    rendered.text = std::move(text);
    return rendered;
  }
  common_chat_params params = apply(messages, options);
  RenderedPrompt rendered = form_of(params);
  // Without a beginning of its own, an answer's form cannot be known by the prompt's end.
  if (!params.generation_prompt.empty() && params.prompt == text &&
      text.ends_with(params.generation_prompt)) {
    const std::lock_guard lock(mutex_);
    if (forms_.size() < kMostForms) {
      forms_.push_back(std::make_shared<const AnswerForm>(
          AnswerForm{thinking, params.generation_prompt, rendered}));
    }
  }
  rendered.text = std::move(params.prompt);
  return rendered;
}

}  // namespace segue
