// The sizes of a made-up model and what they mean in a GGUF file: one architecture for each memory
// kind (attention: qwen2, sliding window: gemma3, hybrid: lfm2, recurrent: mamba), with the keys
// and tensor names that llama.cpp v0.5.0 reads.
//
// Values; no synchronisation needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/memory_traits.h"
#include "bench/gguf_writer.h"
#include "bench/random_values.h"

namespace segue::bench {

// Standard deviations of a layer's weights, for inputs of unit size.
struct WeightScales {
  float query = 1.0F;  // above 1: attention picks few positions instead of averaging all
  float input = 1.0F;
  float output = 1.0F;  // of what a layer adds to the residual stream; 0: nothing
};

struct ModelShape {
  MemoryKind kind = MemoryKind::attention;
  std::int32_t layers = 0;
  std::int32_t width = 0;  // n_embd
  std::int32_t heads = 0;
  std::int32_t kv_heads = 0;
  std::int32_t head_size = 0;
  std::int32_t feed_forward = 0;
  std::int32_t window = 0;  // sliding window only
  std::int32_t period = 6;  // sliding window: every period-th layer sees everything
  std::vector<std::int32_t> attention_layers = {};  // hybrid: the others are convolutions
  std::int32_t context = 32768;
  ggml_type type = GGML_TYPE_Q8_0;  // of the matrices

  std::string architecture() const;
  // By how much the architecture multiplies an embedding before the first layer.
  float embedding_multiplier() const;
  // The name of the norm before the output matrix.
  std::string output_norm_name() const;

  void write_keys(GgufWriter& out) const;
  // All layers and the output norm; `random` must outlive out.write().
  void add_layers(GgufWriter& out, RandomValues& random, const WeightScales& scales) const;
};

}  // namespace segue::bench
