#include "bench/generate/step_program.h"

#include <functional>
#include <string_view>

#include "bench/generate/tensor_text.h"

namespace stepscope::generate {
namespace {

constexpr int64_t kBatch = 32;
constexpr int64_t kTinyBatch = 2;
constexpr int64_t kTinyKernelDivisor = 2;
constexpr int64_t kTokens = 512;
constexpr int64_t kWidth = 768;
constexpr int64_t kVocabulary = 50'304;  // padded, as fast models have it
constexpr int64_t kBytesPerElement = 2;  // BFloat16
// The catalogue's times of kernels that move activations are for this batch.
constexpr int64_t kCatalogueBatch = 16;
// An NVIDIA H200 does 989 TFLOP/s in BFloat16; a good matrix kernel reaches 60 % of it.
constexpr int64_t kMatrixFlopsPerNs = 593'000;
constexpr int64_t kMatrixKernelNs = 2'500;  // beside the arithmetic
constexpr int64_t kLowMfuFactor = 8;
constexpr int64_t kLeakBytes = 64 << 20;
constexpr int64_t kDataLoaderNsPerSample = 150'000;
constexpr int kLayersPerBucket = 3;
constexpr int64_t kBucketElements = 12'582'912;
constexpr int64_t kNoSlot = -1;

class ProgramBuilder {
 public:
  ProgramBuilder(const Options& options, NamePool* names)
      : options_(options),
        names_(names),
        batch_(options.tiny_kernels ? kTinyBatch : kBatch),
        input_(Shape({batch_, kTokens})),
        activation_(Shape({batch_, kTokens, kWidth})) {}

  StepProgram Build() {
    out_ = &program_.batch;
    AddDataLoading();
    AddForward();
    AddLossAndBackward();
    program_.autograd_nodes = nodes_;
    out_ = &program_.optimizer;
    AddOptimizer();
    return std::move(program_);
  }

 private:
  void Emit(Opcode opcode, int64_t argument = 0) { out_->push_back({opcode, argument}); }

  void Begin(Category category, std::string_view name, int64_t overhead_ns,
             std::string argument_text = "", int node = -1, Flow flow = Flow::kNone) {
    program_.host_sites.push_back(
        {category, names_->Intern(name), flow, node, overhead_ns, std::move(argument_text), -1});
    Emit(Opcode::kBegin, static_cast<int64_t>(program_.host_sites.size()) - 1);
  }

  void BeginOp(std::string_view name, std::string argument_text = "") {
    Begin(Category::kCpuOp, name, 2'600, std::move(argument_text));
  }

  void End() { Emit(Opcode::kEnd); }

  // Kernels of a batch take time by its size; those of the optimizer by that of the model.
  void Launch(Kernel kernel) {
    const bool by_batch = out_ == &program_.batch;
    if (by_batch) kernel.typical_ns = kernel.typical_ns * batch_ / kCatalogueBatch;
    if (options_.tiny_kernels) kernel.typical_ns = kernel.typical_ns / kTinyKernelDivisor + 900;
    LaunchAsIs(std::move(kernel));
  }

  // An m x k matrix times a k x n one.
  void LaunchMatrix(int64_t m, int64_t k, int64_t n) {
    Kernel kernel = GemmKernel(variant_++, names_);
    kernel.typical_ns = 2 * m * k * n / kMatrixFlopsPerNs + kMatrixKernelNs;
    if (options_.low_mfu) kernel.typical_ns *= kLowMfuFactor;
    LaunchAsIs(std::move(kernel));
  }

  void LaunchAsIs(Kernel kernel) {
    program_.kernels.push_back(std::move(kernel));
    Emit(Opcode::kLaunch, static_cast<int64_t>(program_.kernels.size()) - 1);
  }

  // Most operators of a real trace only look at memory and launch nothing.
  void View(std::string_view name) {
    BeginOp(name);
    End();
  }

  int64_t Allocate(int64_t size_bytes) {
    program_.slot_bytes.push_back(size_bytes);
    const auto slot = static_cast<int64_t>(program_.slot_bytes.size()) - 1;
    Emit(Opcode::kAllocate, slot);
    return slot;
  }

  void BeginModule(std::string_view type, int number) {
    Begin(Category::kPythonFunction,
          "nn.Module: " + std::string(type) + "_" + std::to_string(number), 3'000);
  }

  // A forward operator that autograd remembers. What its backward does is kept and replayed in
  // reverse order later.
  void Differentiable(std::string_view name, const std::string& arguments,
                      const std::function<void()>& launches, std::string_view backward_name,
                      std::function<void()> backward) {
    const int node = nodes_++;
    Begin(Category::kCpuOp, name, 3'200, arguments, node, Flow::kForwardStart);
    int64_t slot = kNoSlot;
    if (node % 2 == 0) {  // The others write into memory that they were given.
      BeginOp("aten::empty");
      slot = Allocate(batch_ * kTokens * kWidth * kBytesPerElement);
      End();
    }
    launches();
    End();
    backward_.push_back({node, std::string(backward_name), slot, std::move(backward)});
  }

  void AddDataLoading() {
    Begin(Category::kUserAnnotation,
          "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
          static_cast<int64_t>(static_cast<double>(kDataLoaderNsPerSample * batch_) *
                               options_.slow_data_factor));
    End();
    const int64_t input_bytes = batch_ * kTokens * 8;
    BeginOp("aten::to", Tensors({input_, "[]"}));
    BeginOp("aten::_to_copy", Tensors({input_, "[]"}));
    BeginOp("aten::empty_strided", Tensors({"[]", "[]"}));
    input_slot_ = Allocate(input_bytes);
    End();
    BeginOp("aten::copy_", Tensors({input_, input_}));
    Emit(Opcode::kCopyToDevice, input_bytes);
    End();
    End();
    End();
  }

  void AddForward() {
    BeginModule("DistributedDataParallel", 0);
    BeginModule("GPT2Model", 0);
    AddElementwise("aten::embedding", "EmbeddingBackward0", "aten::embedding_dense_backward", 2);
    for (int layer = 0; layer < options_.layers; ++layer) AddLayer(layer);
    AddLayerNorm(options_.layers);
    End();
    AddLinear(options_.layers, kWidth, kVocabulary);
    End();
  }

  void AddLayer(int layer) {
    BeginModule("GPT2Block", layer);
    AddLayerNorm(layer);
    BeginModule("GPT2Attention", layer);
    AddLinear(layer, kWidth, 3 * kWidth);
    AddAttention(layer);
    AddLinear(layer, kWidth, kWidth);
    AddElementwise("aten::native_dropout", "NativeDropoutBackward0", "aten::mul", 1);
    End();
    AddElementwise("aten::add", "AddBackward0", "aten::add_", 1);
    AddLayerNorm(layer);
    BeginModule("GPT2MLP", layer);
    AddLinear(layer, kWidth, 4 * kWidth);
    BeginModule("NewGELUActivation", layer);
    AddElementwise("aten::pow", "PowBackward0", "aten::pow", 2);
    AddElementwise("aten::mul", "MulBackward0", "aten::mul", 2);
    AddElementwise("aten::tanh", "TanhBackward0", "aten::tanh_backward", 1);
    AddElementwise("aten::mul", "MulBackward0", "aten::mul", 2);
    End();
    AddLinear(layer, 4 * kWidth, kWidth);
    AddElementwise("aten::native_dropout", "NativeDropoutBackward0", "aten::mul", 1);
    End();
    AddElementwise("aten::add", "AddBackward0", "aten::add_", 1);
    if ((layer + 1) % kLayersPerBucket == 0 || layer + 1 == options_.layers) {
      backward_.push_back({-1, "", -1, [this] { AddGradientReduction(); }});
    }
    End();
  }

  void AddScalarRead() {
    BeginOp("aten::item", Tensors({"[]"}));
    BeginOp("aten::_local_scalar_dense", Tensors({"[]"}));
    Emit(Opcode::kReadScalar);
    End();
    End();
  }

  void AddLayerNorm(int layer) {
    const std::string arguments = Tensors({activation_, "[]", "[768]", "[768]", "[]"});
    BeginModule("LayerNorm", module_number_++);
    BeginOp("aten::layer_norm", arguments);
    Differentiable(
        "aten::native_layer_norm", arguments,
        [&] { Launch(LayerNormKernel(layer, false, names_)); }, "NativeLayerNormBackward0",
        [this, layer, arguments] {
          BeginOp("aten::native_layer_norm_backward", arguments);
          Launch(LayerNormKernel(layer, true, names_));
          Launch(ReductionKernel(variant_++, names_));
          Launch(FusedKernel(variant_++, names_));
          End();
        });
    End();
    End();
  }

  void AddLinear(int layer, int64_t in, int64_t out) {
    const int64_t rows = batch_ * kTokens;
    const std::string weight = Shape({out, in});
    const std::string bias = Shape({out});
    BeginModule("Linear", module_number_++);
    BeginOp("aten::linear", Tensors({Shape({batch_, kTokens, in}), weight, bias}));
    BeginOp("aten::t", Tensors({weight}));
    BeginOp("aten::transpose", Tensors({weight, "[]", "[]"}));
    View("aten::as_strided");
    End();
    End();
    View("aten::view");
    Differentiable(
        "aten::addmm", Tensors({bias, Shape({rows, in}), Shape({in, out}), "[]", "[]"}),
        [&] {
          LaunchMatrix(rows, in, out);
          if (layer % 2 == 1) Launch(FusedKernel(variant_++, names_));
        },
        "AddmmBackward0",
        [this, rows, in, out] {
          const std::string gradient = Shape({rows, out});
          View("aten::t");
          BeginOp("aten::mm", Tensors({gradient, Shape({out, in})}));
          LaunchMatrix(rows, out, in);
          End();
          View("aten::t");
          BeginOp("aten::mm", Tensors({Shape({out, rows}), Shape({rows, in})}));
          Emit(Opcode::kMemset, 8'192);
          LaunchMatrix(out, rows, in);
          End();
          BeginOp("aten::sum", Tensors({gradient, "[]"}));
          Launch(ReductionKernel(variant_++, names_));
          Launch(ReductionKernel(variant_++, names_));
          End();
          BeginOp("aten::add_", Tensors({"[768]", "[768]"}));
          Launch(FusedKernel(variant_++, names_));
          Launch(ElementwiseKernel(variant_++, names_));
          View("aten::detach");
          End();
        });
    View("aten::view");
    End();
    if (options_.sync_points) AddScalarRead();
    End();
  }

  void AddAttention(int layer) {
    const std::string heads = Shape({batch_, 12, kTokens, 64});
    const std::string arguments = Tensors({heads, heads, heads, "[]"});
    View("aten::split");
    for (int i = 0; i < 3; ++i) View("aten::permute");
    BeginOp("aten::scaled_dot_product_attention", arguments);
    Differentiable(
        "aten::_scaled_dot_product_cudnn_attention", arguments,
        [&] { Launch(AttentionKernel(layer, false, names_)); },
        "ScaledDotProductCudnnAttentionBackward0",
        [this, layer, arguments] {
          BeginOp("aten::_scaled_dot_product_cudnn_attention_backward", arguments);
          Launch(FusedKernel(variant_++, names_));
          Launch(AttentionKernel(layer, true, names_));
          Launch(FusedKernel(variant_++, names_));
          End();
        });
    End();
  }

  void AddElementwise(std::string_view name, std::string_view backward_name,
                      std::string_view backward_op, int kernels) {
    const std::string arguments = Tensors({activation_, activation_});
    Differentiable(
        name, arguments,
        [&] {
          for (int i = 0; i < kernels; ++i) Launch(NextPointwise());
        },
        backward_name,
        [this, op = std::string(backward_op), arguments, kernels] {
          BeginOp(op, arguments);
          View("aten::result_type");
          for (int i = 0; i < kernels + 1; ++i) Launch(NextPointwise());
          End();
        });
  }

  // Eager and compiled models differ in what is pointwise; real traces hold both.
  Kernel NextPointwise() {
    const int variant = variant_++;
    return variant % 2 == 0 ? ElementwiseKernel(variant / 2, names_) : FusedKernel(variant, names_);
  }

  void AddLossAndBackward() {
    AddElementwise("aten::_log_softmax", "LogSoftmaxBackward0", "aten::_log_softmax_backward_data",
                   1);
    AddElementwise("aten::nll_loss_forward", "NllLossBackward0", "aten::nll_loss_backward", 1);
    Begin(Category::kPythonFunction, "torch/autograd/graph.py(829): _engine_run_backward", 9'000);
    Emit(Opcode::kBackwardThread);
    for (auto step = backward_.rbegin(); step != backward_.rend(); ++step) {
      if (step->node < 0) {
        step->run();
        continue;
      }
      Begin(Category::kCpuOp, "autograd::engine::evaluate_function: " + step->name, 2'200, "",
            step->node);
      Begin(Category::kCpuOp, step->name, 1'900, "", step->node, Flow::kBackwardEnd);
      step->run();
      End();
      if (step->slot != kNoSlot) Emit(Opcode::kFree, step->slot);
      End();
    }
    Emit(Opcode::kMainThread);
    End();
    Emit(Opcode::kFree, input_slot_);
    if (options_.memory_leak) {
      BeginOp("aten::clone", Tensors({"[4096, 8192]"}));
      Emit(Opcode::kLeak, kLeakBytes);
      End();
    }
  }

  void AddGradientReduction() {
    AddCollective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                  Group::kWorld, "allreduce", "c10d::allreduce_", "nccl:all_reduce",
                  kBucketElements, 190'000);
    if (HasPairGroups(options_.ranks)) {
      AddCollective("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    Group::kPair, "_allgather_base", "c10d::_allgather_base_",
                    "nccl:_all_gather_base", kBucketElements / 8, 45'000);
    }
  }

  void AddCollective(std::string_view kernel, Group group, std::string operation,
                     std::string_view op, std::string_view annotation, int64_t elements,
                     int64_t transfer_ns) {
    program_.collectives.push_back(
        {names_->Intern(kernel), group, std::move(operation), elements, transfer_ns});
    BeginOp(op, Tensors({"[12582912]", "[]"}));
    BeginOp("record_param_comms", Tensors({"[12582912]"}));
    program_.host_sites.back().collective = static_cast<int>(program_.collectives.size()) - 1;
    Begin(Category::kUserAnnotation, annotation, 2'000);
    Emit(Opcode::kCollective, static_cast<int64_t>(program_.collectives.size()) - 1);
    End();
    End();
    End();
  }

  void AddOptimizer() {
    Begin(Category::kUserAnnotation, "Optimizer.step#AdamW.step", 20'000);
    static constexpr std::string_view kForeachOps[] = {
        "aten::_foreach_add_",     "aten::_foreach_mul_", "aten::_foreach_lerp_",
        "aten::_foreach_addcmul_", "aten::_foreach_sqrt", "aten::_foreach_div_",
        "aten::_foreach_addcdiv_"};
    int variant = 0;
    for (const std::string_view name : kForeachOps) {
      BeginOp(name, Tensors({"[]", "[]"}));
      for (int layer = 0; layer < options_.layers; ++layer) {
        Launch(MultiTensorKernel(variant, names_));
      }
      ++variant;
      End();
    }
    End();
    Begin(Category::kUserAnnotation, "Optimizer.zero_grad#AdamW.zero_grad", 90'000);
    End();
  }

  struct BackwardStep {
    int node;  // -1: not an operator.
    std::string name;
    int64_t slot;
    std::function<void()> run;
  };

  const Options& options_;
  NamePool* names_;
  const int64_t batch_;
  const std::string input_;       // shape of the tokens of a batch
  const std::string activation_;  // shape of what a layer passes on
  StepProgram program_;
  std::vector<Instruction>* out_ = nullptr;
  std::vector<BackwardStep> backward_;
  int nodes_ = 0;
  int variant_ = 0;
  int module_number_ = 0;
  int64_t input_slot_ = 0;
};

}  // namespace

StepProgram BuildStepProgram(const Options& options, NamePool* names) {
  return ProgramBuilder(options, names).Build();
}

}  // namespace stepscope::generate
