#include "llama/model_file.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "common.h"
#include "ggml-backend.h"
#include "gguf.h"
#include "llama.h"
#include "llama/model_identity.h"
#include "segue/error.h"

namespace segue {

namespace {

// Below this many bytes of weights a decode's work is less than what waking a second thread costs
// (measured on a model of 2.7M parameters: two threads are twenty times slower than one).
constexpr std::int64_t kSingleThreadBytes = std::int64_t{64} << 20;

std::string quoted(const std::filesystem::path& path) {
  std::string text(1, '"');
  text += path.string();
  text += '"';
  return text;
}

// A build whose back ends are chosen at run time has none until they are loaded. They stand beside
// ggml's own library; the current folder, where ggml would look by itself, may be anybody's.
void load_backends() {
  if (ggml_backend_dev_count() > 0) return;
  Dl_info ggml{};
  if (dladdr(reinterpret_cast<const void*>(&ggml_backend_load_all_from_path), &ggml) == 0) return;
  std::error_code error;
  const auto library = std::filesystem::canonical(ggml.dli_fname, error);
  if (!error) ggml_backend_load_all_from_path(library.parent_path().c_str());
}

void init_backend_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    load_backends();
    llama_backend_init();
  });
}

// Hands llama.cpp's progress on, and keeps what the callback throws: exceptions must not pass
// through the loader.
struct Progress {
  const std::function<bool(float)>& callback;
  bool stopped = false;
  std::optional<std::string> failure;

  static bool report(float done, void* self) noexcept {
    auto& progress = *static_cast<Progress*>(self);
    if (!progress.callback || progress.stopped) return !progress.stopped;
    try {
      progress.stopped = !progress.callback(done);
    } catch (const std::exception& e) {
      progress.stopped = true;
      progress.failure = e.what();
    } catch (...) {
      progress.stopped = true;
      progress.failure = "an exception that is no std::exception";
    }
    return !progress.stopped;
  }
};

struct GgufDeleter {
  void operator()(gguf_context* context) const { gguf_free(context); }
};

// Why a file that llama.cpp refused cannot be loaded. Reads the header again, since llama.cpp's own
// words (`reason`) seldom name the cause.
[[noreturn]] void throw_refused(const std::filesystem::path& path, const LogCapture& log) {
  const std::string name = quoted(path);
  const std::string reason = log.reason();
  for (const char* part :
       {"failed to allocate", "unable to allocate", "bad_alloc", "out of memory"}) {
    if (log.mentions(part)) {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(path, error);
      throw OutOfMemory("no memory for the weights of " + name + " (a file of " +
                        std::to_string(error ? 0 : bytes >> 20) + " MiB): " + reason +
                        ". Close other programs or take a smaller quantization.");
    }
  }
  std::unique_ptr<gguf_context, GgufDeleter> header;
  {
    const LogCapture quiet;
    header.reset(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  }
  if (!header) {
    throw InvalidModel(name + " is not a GGUF file, or its header is damaged: " + reason +
                       ". Download it again, or convert the model to GGUF.");
  }
  if (log.mentions("unknown model architecture")) {
    throw InvalidModel(name + ": " + reason + ". This build of llama.cpp (v" + llama_version() +
                       ") does not know it; a newer segue may.");
  }
  if (gguf_get_n_tensors(header.get()) == 0) {
    throw InvalidModel(name + " holds only a vocabulary, no weights. Take the model's full file.");
  }
  if (log.mentions("CLIP")) {
    throw InvalidModel(name +
                       " is a multimodal projector, not a language model. Load the model "
                       "that it belongs to.");
  }
  if (log.mentions("not within the file bounds") || log.mentions("corrupted or incomplete")) {
    throw InvalidModel(name + " is truncated: " + reason + ". Download it again.");
  }
  throw InvalidModel(name + " cannot be loaded: " + reason);
}

void check_file(const std::filesystem::path& path) {
  const std::string name = quoted(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InvalidModel("there is no file " + name + ". Check the path.");
  }
  if (std::filesystem::is_directory(status)) {
    throw InvalidModel(name + " is a directory. Pass the .gguf file in it.");
  }
}

void check_options(const ModelOptions& options) {
  const auto check = [](const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    throw InvalidArgument(std::string(name) + " is " + std::to_string(value) +
                          "; it must be from " + std::to_string(low) + " to " +
                          std::to_string(high));
  };
  check("threads", options.threads, 0, 512);
  check("slots", options.slots, 1, static_cast<std::int64_t>(llama_max_parallel_sequences()));
  check("context_length", options.context_length, 0, std::int64_t{1} << 30);
  check("batch_size", options.batch_size, 1, 65536);
}

std::int32_t choose_threads(std::int32_t asked, std::int64_t weight_bytes) {
  if (asked > 0) return asked;
  if (weight_bytes < kSingleThreadBytes) return 1;
  // hardware_concurrency() knows of the cores that this process may use.
  const auto usable = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp(common_cpu_get_num_physical_cores(), 1, usable);
}

void check_can_chat(const ModelFile& file, const std::filesystem::path& path) {
  const llama_model* model = file.handle();
  const std::string name = quoted(path) + " (" + file.facts().architecture + ")";
  if (llama_model_is_diffusion(model)) {
    throw InvalidModel(name +
                       " is a diffusion model: it has no next token to write. Take a causal "
                       "language model.");
  }
  const std::string causal = file.metadata(file.facts().architecture + ".attention.causal");
  if (!llama_model_has_decoder(model) || causal == "false") {
    throw InvalidModel(name +
                       " is an encoder: it gives embeddings, no text. Take a causal language "
                       "model.");
  }
}

}  // namespace

std::shared_ptr<ModelFile> ModelFile::load(const std::filesystem::path& path,
                                           const ModelOptions& options) {
  check_options(options);
  check_file(path);
  const std::shared_ptr<ModelFile> file(new ModelFile(options.log));
  init_backend_once();

  Progress progress{options.on_progress, false, std::nullopt};
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  params.load_mode = options.use_mmap ? LLAMA_LOAD_MODE_MMAP : LLAMA_LOAD_MODE_NONE;
  params.progress_callback = &Progress::report;
  params.progress_callback_user_data = &progress;
  {
    const LogCapture log;
    try {
      file->model_ = llama_model_load_from_file(path.c_str(), params);
    } catch (const std::exception& e) {
      throw InvalidModel(quoted(path) + " cannot be loaded: " + e.what());
    }
    if (progress.failure) {
      throw CallbackFailed("on_progress threw, so the load was stopped: " + *progress.failure);
    }
    if (progress.stopped) throw Cancelled("the load was stopped by on_progress");
    if (file->model_ == nullptr) throw_refused(path, log);
  }

  const llama_model* model = file->model_;
  ModelFacts& facts = file->facts_;
  std::array<char, 256> text{};
  llama_model_desc(model, text.data(), text.size());
  facts.description = text.data();
  facts.architecture = file->metadata("general.architecture");
  facts.parameters = static_cast<std::int64_t>(llama_model_n_params(model));
  facts.weight_bytes = static_cast<std::int64_t>(llama_model_size(model));
  facts.training_context = llama_model_n_ctx_train(model);
  facts.vocabulary_size = llama_vocab_n_tokens(file->vocabulary());
  facts.window = llama_model_n_swa(model);
  facts.kind = llama_model_has_encoder(model)    ? MemoryKind::single_use
               : llama_model_is_recurrent(model) ? MemoryKind::recurrent
               : llama_model_is_hybrid(model)    ? MemoryKind::hybrid
               : facts.window > 0                ? MemoryKind::sliding_window
                                                 : MemoryKind::attention;
  facts.threads = choose_threads(options.threads, facts.weight_bytes);
  check_can_chat(*file, path);
  const std::string split_count = file->metadata("split.count");
  facts.identity = model_identity(path, split_count.empty() ? 1 : std::stoi(split_count));
  return file;
}

ModelFile::~ModelFile() {
  if (model_ != nullptr) llama_model_free(model_);
}

const llama_vocab* ModelFile::vocabulary() const { return llama_model_get_vocab(model_); }

std::string ModelFile::metadata(const std::string& key) const {
  const std::int32_t length = llama_model_meta_val_str(model_, key.c_str(), nullptr, 0);
  if (length < 0) return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  llama_model_meta_val_str(model_, key.c_str(), value.data(), value.size());
  value.pop_back();
  return value;
}

}  // namespace segue
