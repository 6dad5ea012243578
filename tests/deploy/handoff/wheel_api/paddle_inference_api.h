// Our own declarations of the functions of Paddle Inference that `replay.cc` calls and libpaddle.so of the wheel
// paddlepaddle 3.3.1 exports: the wheel holds this library and not the header. Each name that the linker finds carries
// the types of its parameters; what it does not show is written down here: results, sizes and numbers of the enum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddle {

// Larger than the class of any version, which only the library itself looks into.
struct AnalysisConfig {
  AnalysisConfig();
  ~AnalysisConfig();
  void SetModel(const std::string& program, const std::string& parameters);
  void DisableGpu();
  void SwitchIrOptim(int on);
  void DisableMKLDNN();
  void SetCpuMathLibraryNumThreads(int threads);
  void DisableGlogInfo();

 private:
  alignas(64) unsigned char room_[16384];
};

}  // namespace paddle

namespace paddle_infer {

using Config = paddle::AnalysisConfig;

enum class DataType { FLOAT32, INT64, INT32, UINT8, INT8, FLOAT16, BOOL, FLOAT64, BFLOAT16 };

class Tensor {
 public:
  void Reshape(const std::vector<int>& shape);
  template <typename T>
  void CopyFromCpu(const T* data);
  template <typename T>
  void CopyToCpu(T* data) const;
  DataType type() const;
  std::vector<int> shape() const;
  const std::string& name() const;
};

class Predictor {
 public:
  bool Run();
  std::unique_ptr<Tensor> GetInputHandle(const std::string& name);
  std::unique_ptr<Tensor> GetOutputHandle(const std::string& name);
};

std::shared_ptr<Predictor> CreatePredictor(const Config& config);

}  // namespace paddle_infer
