#include "bench/model_shape.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace segue::bench {
namespace {

constexpr std::int32_t kConvolution = 3;  // lfm2: tokens that a short convolution sees
constexpr std::int32_t kMambaConvolution = 4;
constexpr std::int32_t kMambaState = 16;

std::int32_t mamba_inner(const ModelShape& shape) { return 2 * shape.width; }
std::int32_t mamba_rank(const ModelShape& shape) { return (shape.width + 15) / 16; }

// Adds the tensors of one layer.
class Layer {
 public:
  Layer(GgufWriter& out, RandomValues& random, const ModelShape& shape, const WeightScales& scales,
        std::int32_t index)
      : out_(out), random_(random), shape_(shape), scales_(scales), index_(index) {}

  void add_attention() {
    const std::int32_t query_size = shape_.heads * shape_.head_size;
    const std::int32_t kv_size = shape_.kv_heads * shape_.head_size;
    const bool has_head_norms = shape_.kind != MemoryKind::attention;
    matrix("attn_q", shape_.width, query_size, has_head_norms ? 1.0F : scales_.query);
    matrix("attn_k", shape_.width, kv_size, scales_.input);
    matrix("attn_v", shape_.width, kv_size, scales_.input);
    matrix("attn_output", query_size, shape_.width, scales_.output);
    if (has_head_norms) {
      constant("attn_q_norm.weight", shape_.head_size, scales_.query);
      constant("attn_k_norm.weight", shape_.head_size, 1.0F);
    }
  }

  void add_short_convolution() {
    matrix("shortconv.in_proj", shape_.width, std::int64_t{3} * shape_.width, scales_.input);
    matrix("shortconv.conv", kConvolution, shape_.width, scales_.input, GGML_TYPE_F32);
    matrix("shortconv.out_proj", shape_.width, shape_.width, scales_.output);
  }

  void add_feed_forward() {
    constant("ffn_norm.weight", shape_.width, 1.0F);
    matrix("ffn_gate", shape_.width, shape_.feed_forward, scales_.input);
    matrix("ffn_up", shape_.width, shape_.feed_forward, scales_.input);
    matrix("ffn_down", shape_.feed_forward, shape_.width, scales_.output);
  }

  void add_mamba() {
    const std::int32_t inner = mamba_inner(shape_);
    const std::int32_t rank = mamba_rank(shape_);
    matrix("ssm_in", shape_.width, std::int64_t{2} * inner, scales_.input);
    matrix("ssm_conv1d", kMambaConvolution, inner, scales_.input, GGML_TYPE_F32);
    constant("ssm_conv1d.bias", inner, 0.0F);
    matrix("ssm_x", inner, rank + 2 * kMambaState, scales_.input);
    matrix("ssm_dt", rank, inner, scales_.input, GGML_TYPE_F32);
    // Steps of 0.0025 to 0.13 after the softplus: some channels forget within tokens, some remember
    // hundreds.
    add("ssm_dt.bias", GGML_TYPE_F32, inner, 0, [](std::int64_t, std::span<float> values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = -6.0F + 4.0F * static_cast<float>(i) / static_cast<float>(values.size());
      }
    });
    add("ssm_a", GGML_TYPE_F32, kMambaState, inner, [](std::int64_t, std::span<float> values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = -static_cast<float>(i + 1);
    });
    constant("ssm_d", inner, 1.0F);
    matrix("ssm_out", inner, shape_.width, scales_.output);
  }

  void constant(const std::string& name, std::int64_t size, float value) {
    add(name, GGML_TYPE_F32, size, 0, [value](std::int64_t, std::span<float> values) {
      std::fill(values.begin(), values.end(), value);
    });
  }

 private:
  void matrix(const std::string& name, std::int64_t inputs, std::int64_t outputs, float gain) {
    matrix(name, inputs, outputs, gain, shape_.type);
  }

  void matrix(const std::string& name, std::int64_t inputs, std::int64_t outputs, float gain,
              ggml_type type) {
    const float scale = gain / std::sqrt(static_cast<float>(inputs));
    add(name + ".weight", type, inputs, outputs,
        [&random = random_, scale](std::int64_t, std::span<float> values) {
          random.fill(values, scale);
        });
  }

  void add(const std::string& name, ggml_type type, std::int64_t row_length, std::int64_t rows,
           GgufWriter::FillRow fill) {
    out_.add_tensor("blk." + std::to_string(index_) + "." + name, type, row_length, rows,
                    std::move(fill));
  }

  GgufWriter& out_;
  RandomValues& random_;
  const ModelShape& shape_;
  const WeightScales& scales_;
  std::int32_t index_;
};

bool is_attention_layer(const ModelShape& shape, std::int32_t layer) {
  return std::find(shape.attention_layers.begin(), shape.attention_layers.end(), layer) !=
         shape.attention_layers.end();
}

}  // namespace

std::string ModelShape::architecture() const {
  switch (kind) {
    case MemoryKind::attention:
      return "qwen2";
    case MemoryKind::sliding_window:
      return "gemma3";
    case MemoryKind::hybrid:
      return "lfm2";
    case MemoryKind::recurrent:
      return "mamba";
    case MemoryKind::none:
    case MemoryKind::single_use:
      break;
  }
  throw std::invalid_argument("a model without memory cannot chat");
}

float ModelShape::embedding_multiplier() const {
  return kind == MemoryKind::sliding_window ? std::sqrt(static_cast<float>(width)) : 1.0F;
}

std::string ModelShape::output_norm_name() const {
  return kind == MemoryKind::hybrid ? "token_embd_norm.weight" : "output_norm.weight";
}

void ModelShape::write_keys(GgufWriter& out) const {
  const std::string arch = architecture();
  const auto set = [&](const char* key, std::int32_t value) {
    out.set(arch + "." + key, static_cast<std::uint32_t>(value));
  };
  out.set("general.architecture", arch);
  out.set("general.quantization_version", std::uint32_t{GGML_QNT_VERSION});
  set("block_count", layers);
  set("context_length", context);
  set("embedding_length", width);
  set("feed_forward_length", feed_forward);
  set("attention.head_count", heads);
  out.set(arch + ".attention.layer_norm_rms_epsilon", 1e-6F);
  if (kind == MemoryKind::recurrent) {
    set("ssm.conv_kernel", kMambaConvolution);
    set("ssm.inner_size", mamba_inner(*this));
    set("ssm.state_size", kMambaState);
    set("ssm.time_step_rank", mamba_rank(*this));
    return;
  }
  set("attention.key_length", head_size);
  set("attention.value_length", head_size);
  out.set(arch + ".rope.freq_base", 1e6F);
  if (kind == MemoryKind::sliding_window) {
    set("attention.sliding_window", window);
    set("attention.sliding_window_pattern", period);
  }
  if (kind == MemoryKind::hybrid) {
    set("shortconv.l_cache", kConvolution);
    std::vector<std::int32_t> per_layer(static_cast<std::size_t>(layers), 0);
    for (const std::int32_t layer : attention_layers) {
      per_layer[static_cast<std::size_t>(layer)] = kv_heads;
    }
    gguf_set_arr_data(out.keys(), (arch + ".attention.head_count_kv").c_str(), GGUF_TYPE_INT32,
                      per_layer.data(), per_layer.size());
  } else {
    set("attention.head_count_kv", kv_heads);
  }
}

void ModelShape::add_layers(GgufWriter& out, RandomValues& random,
                            const WeightScales& scales) const {
  for (std::int32_t index = 0; index < layers; ++index) {
    Layer layer(out, random, *this, scales, index);
    layer.constant("attn_norm.weight", width, 1.0F);
    if (kind == MemoryKind::recurrent) {
      layer.add_mamba();
      continue;
    }
    if (kind == MemoryKind::hybrid && !is_attention_layer(*this, index)) {
      layer.add_short_convolution();
    } else {
      layer.add_attention();
    }
    layer.add_feed_forward();
    if (kind == MemoryKind::sliding_window) {
      layer.constant("post_attention_norm.weight", width, 1.0F);
      layer.constant("post_ffw_norm.weight", width, 1.0F);
    }
  }
  out.add_tensor(
      output_norm_name(), GGML_TYPE_F32, width, 0,
      [](std::int64_t, std::span<float> values) { std::fill(values.begin(), values.end(), 1.0F); });
}

}  // namespace segue::bench
