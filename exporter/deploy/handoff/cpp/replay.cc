// Runs the model on every recorded case and writes output N of case C to OUTPUTS/C.N.npy:
//
//   ./build/replay . OUTPUTS && python judge.py OUTPUTS
//
// The first argument is the folder that holds model/, golden.safetensors and cases.txt. Exit codes: 0 done, 1 the
// engine failed, 2 a file is missing or is not what cases.txt says.

#include <paddle_inference_api.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using paddle_infer::DataType;
using paddle_infer::Tensor;

struct Input {
  std::string name, dtype;
  std::vector<int> shape;
  std::vector<char> bytes;
};

struct Case {
  std::string number;
  std::vector<Input> inputs;
};

struct Recorded {
  std::vector<std::string> outputs;
  std::vector<Case> cases;
};

// The rest of a line behind one space: a name may hold spaces.
std::string RestOf(std::istringstream& line) {
  std::string rest;
  line.get();
  std::getline(line, rest);
  return rest;
}

Input ReadInput(std::istringstream& line, std::ifstream& golden) {
  Input input;
  std::size_t place = 0, bytes = 0, rank = 0;
  line >> input.dtype >> place >> bytes >> rank;
  input.shape.resize(rank);
  for (auto& size : input.shape) line >> size;
  if (!line) throw std::invalid_argument("cases.txt is not whole");
  input.name = RestOf(line);
  input.bytes.resize(bytes);
  golden.seekg(static_cast<std::streamoff>(place));
  if (!golden.read(input.bytes.data(), static_cast<std::streamsize>(bytes))) {
    throw std::invalid_argument("golden.safetensors is not whole");
  }
  return input;
}

Recorded ReadCases(const std::string& folder) {
  std::ifstream list(folder + "/cases.txt");
  std::ifstream golden(folder + "/golden.safetensors", std::ios::binary);
  if (!list || !golden) throw std::invalid_argument("cases.txt or golden.safetensors cannot be read in " + folder);
  Recorded recorded;
  for (std::string text; std::getline(list, text);) {
    std::istringstream line(text);
    std::string kind, number;
    line >> kind;
    if (kind == "output") {
      line >> number;
      recorded.outputs.push_back(RestOf(line));
    } else if (kind == "case") {
      line >> number;
      recorded.cases.push_back({number, {}});
    } else if (kind == "input" && !recorded.cases.empty()) {
      recorded.cases.back().inputs.push_back(ReadInput(line, golden));
    } else {
      throw std::invalid_argument("cases.txt holds a line that is not understood: " + text);
    }
  }
  if (recorded.cases.empty() || recorded.outputs.empty()) throw std::invalid_argument("cases.txt holds no case");
  return recorded;
}

std::size_t Elements(const std::vector<int>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t product, int size) { return product * static_cast<std::size_t>(size); });
}

template <typename T>
void Put(Tensor& tensor, const Input& input) {
  if (input.bytes.size() != sizeof(T) * Elements(input.shape)) {
    throw std::invalid_argument("cases.txt has other sizes than bytes for " + input.name);
  }
  tensor.CopyFromCpu(reinterpret_cast<const T*>(input.bytes.data()));
}

void Give(Tensor& tensor, const Input& input) {
  tensor.Reshape(input.shape);
  if (input.dtype == "float32") return Put<float>(tensor, input);
  if (input.dtype == "float64") return Put<double>(tensor, input);
  if (input.dtype == "int64") return Put<std::int64_t>(tensor, input);
  if (input.dtype == "int32") return Put<std::int32_t>(tensor, input);
  if (input.dtype == "int8") return Put<std::int8_t>(tensor, input);
  if (input.dtype == "uint8") return Put<std::uint8_t>(tensor, input);
  if (input.dtype == "bool") return Put<bool>(tensor, input);
  throw std::invalid_argument(input.name + " has the type " + input.dtype + ", which is not replayed");
}

// The .npy format, version 1.0: a text header whose end lies at a multiple of 64 bytes, then the numbers.
void WriteNpy(const std::string& path, const std::string& dtype, const std::vector<int>& shape, const char* bytes,
              std::size_t size) {
  std::ostringstream head;
  head << "{'descr': '" << dtype << "', 'fortran_order': False, 'shape': (";
  for (int length : shape) head << length << ",";
  head << "), }";
  std::string text = head.str();
  text.append(63 - (10 + text.size()) % 64, ' ');
  text.push_back('\n');
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(text.size() & 0xff)).put(static_cast<char>(text.size() >> 8));
  file << text;
  file.write(bytes, static_cast<std::streamsize>(size));
  file.close();
  if (!file) throw std::invalid_argument(path + " cannot be written");
}

template <typename T>
void Take(Tensor& tensor, const std::string& dtype, const std::string& path) {
  const std::vector<int> shape = tensor.shape();
  const std::size_t count = Elements(shape);
  std::unique_ptr<T[]> values(new T[count]);
  tensor.CopyToCpu(values.get());
  WriteNpy(path, dtype, shape, reinterpret_cast<const char*>(values.get()), count * sizeof(T));
}

void Keep(Tensor& tensor, const std::string& path) {
  switch (tensor.type()) {
    case DataType::FLOAT32:
      return Take<float>(tensor, "<f4", path);
    case DataType::FLOAT64:
      return Take<double>(tensor, "<f8", path);
    case DataType::INT64:
      return Take<std::int64_t>(tensor, "<i8", path);
    case DataType::INT32:
      return Take<std::int32_t>(tensor, "<i4", path);
    case DataType::INT8:
      return Take<std::int8_t>(tensor, "|i1", path);
    case DataType::UINT8:
      return Take<std::uint8_t>(tensor, "|u1", path);
    case DataType::BOOL:
      return Take<bool>(tensor, "|b1", path);
    default:
      throw std::invalid_argument(tensor.name() + " has a type that is not replayed");
  }
}

// As the bundle was proven: Paddle's own kernels on the CPU, without graph passes and oneDNN, in one thread.
std::shared_ptr<paddle_infer::Predictor> Load(const std::string& folder, const std::string& program) {
  paddle_infer::Config config;
  const std::string parameters = folder + "/model/model.pdiparams";
  config.SetModel(folder + "/model/" + program, std::ifstream(parameters) ? parameters : "");
  config.DisableGpu();
  config.SwitchIrOptim(false);
  config.DisableMKLDNN();
  config.SetCpuMathLibraryNumThreads(1);
  config.DisableGlogInfo();
  return paddle_infer::CreatePredictor(config);
}

void Replay(const std::string& folder, const std::string& into, const Recorded& recorded) {
  const bool old_format = static_cast<bool>(std::ifstream(folder + "/model/model.pdmodel"));
  auto predictor = Load(folder, old_format ? "model.pdmodel" : "model.json");
  for (const auto& recorded_case : recorded.cases) {
    for (const auto& input : recorded_case.inputs) Give(*predictor->GetInputHandle(input.name), input);
    if (!predictor->Run()) throw std::runtime_error("case " + recorded_case.number + " did not run");
    for (std::size_t place = 0; place < recorded.outputs.size(); ++place) {
      const std::string path = into + "/" + recorded_case.number + "." + std::to_string(place) + ".npy";
      Keep(*predictor->GetOutputHandle(recorded.outputs[place]), path);
    }
  }
  std::cout << recorded.cases.size() << " cases were run; now: python judge.py " << into << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: replay FOLDER OUTPUTS\n";
    return 2;
  }
  int status = 0;
  try {
    const Recorded recorded = ReadCases(arguments[1]);
    Replay(arguments[1], arguments[2], recorded);
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n";
    status = 2;
  } catch (const std::exception& error) {
    std::cerr << "Paddle Inference failed: " << error.what() << "\n";
    status = 1;
  }
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(status);  // engines may crash in their own tidying up, after the work is done
}
