#include "llama/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "gguf.h"
#include "llama/test_models.h"
#include "segue/error.h"

namespace segue {
namespace {

using ::testing::HasSubstr;

class ModelFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "segue-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& bytes) const {
    const auto path = directory_ / "model.gguf";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string tiny_bytes() {
    std::ifstream file(tiny_model_path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What loading says: "" where it succeeds, else the message of the expected error class.
  template <typename E = InvalidModel>
  static std::string refusal(const std::filesystem::path& path, const ModelOptions& options = {}) {
    try {
      ModelFile::load(path, options);
    } catch (const E& e) {
      return e.what();
    }
    return "";
  }

  std::filesystem::path directory_;
};

TEST_F(ModelFileTest, ALoadedModelTellsItsFacts) {
  const ModelFacts& facts = tiny_model()->facts();
  EXPECT_EQ(facts.architecture, tiny_model()->metadata("general.architecture"));
  EXPECT_FALSE(facts.description.empty());
  EXPECT_GT(facts.parameters, 1'000'000);
  EXPECT_GT(facts.weight_bytes, 1'000'000);
  EXPECT_GT(facts.vocabulary_size, 256);
  EXPECT_GT(facts.training_context, 0);
  EXPECT_EQ(facts.kind, MemoryKind::attention);
  EXPECT_EQ(facts.identity.size(), 32U);
}

TEST_F(ModelFileTest, AVerySmallModelGetsOneThreadUnlessAskedOtherwise) {
  EXPECT_EQ(ModelFile::load(tiny_model_path(), {})->facts().threads, 1);
  EXPECT_EQ(ModelFile::load(tiny_model_path(), {.threads = 3})->facts().threads, 3);
}

TEST_F(ModelFileTest, TheIdentityIsTheContentsAndNotThePlace) {
  const std::string bytes = tiny_bytes();
  EXPECT_EQ(ModelFile::load(write(bytes), {})->facts().identity, tiny_model()->facts().identity);
  std::string changed = bytes;
  changed[changed.size() - 7] = static_cast<char>(changed[changed.size() - 7] ^ 1);
  EXPECT_NE(ModelFile::load(write(changed), {})->facts().identity, tiny_model()->facts().identity);
}

TEST_F(ModelFileTest, EachKindOfBadFileIsNamed) {
  EXPECT_THAT(refusal(directory_ / "none.gguf"), HasSubstr("there is no file"));
  EXPECT_THAT(refusal(directory_), HasSubstr("is a directory"));
  EXPECT_THAT(refusal(write("")), HasSubstr("not a GGUF file"));
  EXPECT_THAT(refusal(write("PK\3\4 this is something else altogether")),
              HasSubstr("not a GGUF file"));
  const std::string bytes = tiny_bytes();
  EXPECT_THAT(refusal(write(bytes.substr(0, bytes.size() / 2))), HasSubstr("truncated"));
  EXPECT_THAT(refusal(write(bytes.substr(0, 1000))), HasSubstr("header is damaged"));
  EXPECT_THAT(refusal(llama_models() / "ggml-vocab-gpt-2.gguf"), HasSubstr("only a vocabulary"));
}

TEST_F(ModelFileTest, AnUnknownArchitectureIsNamed) {
  gguf_context* header = gguf_init_empty();
  gguf_set_val_str(header, "general.architecture", "no-such-arch");
  const auto path = directory_ / "unknown.gguf";
  ASSERT_TRUE(gguf_write_to_file(header, path.c_str(), true));
  gguf_free(header);
  EXPECT_THAT(refusal(path), HasSubstr("no-such-arch"));
}

TEST_F(ModelFileTest, AnEncoderIsRefusedBeforeAnyContext) {
  EXPECT_NE(refusal(llama_models() / "ggml-vocab-bert-bge.gguf"), "");
}

TEST_F(ModelFileTest, OptionsOutOfRangeAreNamed) {
  EXPECT_THAT(refusal<InvalidArgument>(tiny_model_path(), {.slots = 0}), HasSubstr("slots is 0"));
  EXPECT_THAT(refusal<InvalidArgument>(tiny_model_path(), {.batch_size = 0}),
              HasSubstr("batch_size"));
}

TEST_F(ModelFileTest, ProgressGoesFromTheStartToTheEnd) {
  std::vector<float> seen;
  ModelFile::load(tiny_model_path(), {.on_progress = [&](float done) {
                    seen.push_back(done);
                    return true;
                  }});
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0F);
}

TEST_F(ModelFileTest, ProgressCanStopTheLoad) {
  EXPECT_NE(refusal<Cancelled>(tiny_model_path(), {.on_progress = [](float) { return false; }}),
            "");
}

TEST_F(ModelFileTest, AnExceptionInProgressBecomesATypedError) {
  const ModelOptions options{
      .on_progress = [](float) -> bool { throw std::runtime_error("no room on the screen"); }};
  EXPECT_THAT(refusal<CallbackFailed>(tiny_model_path(), options),
              HasSubstr("no room on the screen"));
}

TEST_F(ModelFileTest, NothingIsPrinted) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  ModelFile::load(tiny_model_path(), {});
  refusal(write("no model"));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(LogRegistration, EveryLiveCallbackGetsTheMessagesUntilItEnds) {
  int first = 0;
  int second = 0;
  const LogRegistration one([&](LogLevel, const std::string&) { ++first; });
  {
    const LogRegistration two([&](LogLevel, const std::string&) { ++second; });
    ModelFile::load(tiny_model_path(), {});
  }
  EXPECT_GT(first, 0);
  EXPECT_EQ(first, second);
  ModelFile::load(tiny_model_path(), {});
  EXPECT_GT(first, second);
}

TEST(LogRegistration, WhatACallbackThrowsIsSwallowed) {
  const auto model = ModelFile::load(tiny_model_path(), {.log = [](LogLevel, const std::string&) {
                                       throw std::runtime_error("log");
                                     }});
  EXPECT_NE(model, nullptr);
}

}  // namespace
}  // namespace segue
