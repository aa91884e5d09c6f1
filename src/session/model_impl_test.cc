#include "session/model_impl.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chat/fake_template.h"
#include "chat/fake_vocabulary.h"
#include "segue/error.h"
#include "session/callbacks.h"

namespace segue {
namespace {

// Writes "a" for ever, and calls `on_decode` on the engine's thread each time.
class OneLetterBackend final : public StateBackend {
 public:
  explicit OneLetterBackend(std::function<void()> on_decode) : on_decode_(std::move(on_decode)) {
    shape_.n_slots = 1;
    shape_.context_length = Position(100);
    shape_.fingerprint = "one letter";
  }
  ~OneLetterBackend() override { destroyed_.set_value(); }

  std::future<void> destroyed() { return destroyed_.get_future(); }

  const BackendShape& shape() const override { return shape_; }
  DecodeStatus decode(std::span<const BatchToken> tokens) override {
    last_ = tokens.back().position;
    on_decode_();
    return DecodeStatus::ok;
  }
  Position position_min(SlotId) const override { return Position(last_.value < 0 ? -1 : 0); }
  Position position_max(SlotId) const override { return last_; }
  bool remove_from(SlotId, Position from) override {
    last_ = from - Position(1);
    return true;
  }
  void clear(SlotId) override { last_ = Position(-1); }
  StateBlob save(SlotId, StatePart) override { return {}; }
  bool restore(SlotId, std::span<const std::byte>, StatePart) override { return false; }
  std::unique_ptr<Sampler> make_sampler(const SamplerOptions&) override {
    return std::make_unique<OneLetter>();
  }
  void set_abort_check(std::function<bool()>) override {}

 private:
  class OneLetter final : public Sampler {
   public:
    void accept_prompt(Token) override {}
    TokenChoice sample(std::int32_t) override { return {'a', 0, {}}; }
  };

  BackendShape shape_;
  Position last_{-1};
  std::function<void()> on_decode_;
  std::promise<void> destroyed_;
};

std::shared_ptr<ModelImpl> one_letter_model(std::unique_ptr<StateBackend> backend) {
  ModelParts parts;
  parts.vocabulary =
      std::make_shared<FakeVocabulary>(std::vector<std::string>{}, std::vector<SpecialToken>{});
  parts.chat_template = std::make_shared<FakeTemplate>(marked_turns());
  parts.backend = std::move(backend);
  return ModelImpl::assemble(std::move(parts), {});
}

TEST(ModelImpl, TheLastHandleMayGoOnTheEnginesOwnThread) {
  std::shared_ptr<ModelImpl> model;
  const LogCallback log = guard_log([&](LogLevel, const std::string&) { model.reset(); });
  auto backend = std::make_unique<OneLetterBackend>([&] { log(LogLevel::info, "decoding"); });
  std::future<void> destroyed = backend->destroyed();
  model = one_letter_model(std::move(backend));

  GenerationRequest request;
  request.session = model->engine().open_session("");
  request.prompt.items = {PromptItem::of_token('x')};
  const std::shared_ptr<Answer> answer = model->engine().submit(std::move(request));
  EXPECT_THROW(while (true) answer->next(), Error);
  destroyed.get();
}

TEST(ModelImpl, VocabulariesThatSpellAlikeHaveOneName) {
  const auto name = [](std::vector<std::string> words) {
    ModelParts parts;
    parts.vocabulary =
        std::make_shared<FakeVocabulary>(std::move(words), std::vector<SpecialToken>{});
    parts.chat_template = std::make_shared<FakeTemplate>(marked_turns());
    parts.backend = std::make_unique<OneLetterBackend>([] {});
    return ModelImpl::assemble(std::move(parts), {})->vocabulary_name();
  };
  EXPECT_EQ(name({"ab", "c"}), name({"ab", "c"}));
  EXPECT_NE(name({"ab", "c"}), name({"a", "bc"}));
}

}  // namespace
}  // namespace segue
