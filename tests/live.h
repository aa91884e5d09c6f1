// What tests on the bundled model share: it is small enough that a conversation takes milliseconds,
// and it recalls what it was told, so a right answer proves that its state was right.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "segue/segue.h"

namespace segue::live {

inline std::filesystem::path model_path() { return SEGUE_TEST_MODEL; }

inline ModelOptions small_options() {
  ModelOptions options;
  options.threads = 1;
  options.slots = 2;
  options.context_length = 1024;
  return options;
}

// Shared by the tests of a program that need no model of their own.
inline const Model& model() {
  static const Model loaded = Model::load(model_path(), small_options());
  return loaded;
}
// A second engine, which knows nothing of what the first one has read.
inline const Model& other_model() {
  static const Model loaded = Model::load(model_path(), small_options());
  return loaded;
}

// The same prompt gives the same answer.
inline ExchangeOptions greedy() {
  ExchangeOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 60;
  return options;
}

// In a namespace of the running test, so that no other one's state shortens what it reads.
inline SessionOptions greedy_session(std::string instructions = "") {
  SessionOptions options;
  options.cache_namespace = testing::UnitTest::GetInstance()->current_test_info()->name();
  options.instructions = std::move(instructions);
  options.exchange = greedy();
  return options;
}

// Tokens that the session's state holds after an answer: all of it but the last one, which nobody
// has decoded.
inline std::int64_t held_after(const Response& response) {
  return response.usage.prompt() + response.usage.written - 1;
}

inline std::vector<std::string> texts(const Session& session) {
  std::vector<std::string> texts;
  for (const Entry& entry : session.transcript()) texts.push_back(entry.text);
  return texts;
}

inline EntryId id_of(const Session& session, std::size_t index) {
  return session.transcript().at(index).id;
}

// A file of this test, removed when it goes out of scope.
class ScratchFile {
 public:
  ScratchFile() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("segue-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The answer that another engine gives to the session's last prompt after it has read everything.
inline Response fresh_answer(const Session& session, const Model& fresh_model) {
  const ScratchFile file;
  session.save(file.path());
  Session fresh = Session::open(fresh_model, file.path());
  Model(fresh_model).clear_cached_state();
  Response response = fresh.regenerate();
  EXPECT_EQ(response.usage.reused, 0) << "the comparison itself used a kept state";
  return response;
}
inline Response fresh_answer(const Session& session) {
  return fresh_answer(session, other_model());
}

// The last answer of the session is the one of a fresh read.
inline void expect_as_fresh(const Session& session) {
  EXPECT_EQ(texts(session).back(), fresh_answer(session).text);
}

}  // namespace segue::live
