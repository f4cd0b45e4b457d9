#include "analyses/flops/device_peaks.h"

#include <cctype>
#include <string>

namespace stepscope {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

struct Entry {
  std::string_view word;  // the first that occurs in the name decides: variants before families
  // Tera-operations per second: FP64, FP32, TF32, FP16, BF16, FP8, INT8; gigabytes per second.
  double fp64, fp32, tf32, fp16, bf16, fp8, int8, memory;
  double fp32_matrix = 0;
};

// Dense rates at boost clock from the vendors' data sheets and architecture papers (V100, A100,
// H100, Blackwell, Ada, CDNA 2, CDNA 3 ...); where a sheet gives rates with sparsity they are
// halved. GeForce: FP16 with FP32 accumulation. Ascend: cores * clock * 16 * 16 * 16 * 2 from the
// platform files of CANN (910B1: 24 * 1.85 GHz, 910B2: 24 * 1.8, 910B3: 20 * 1.8, 910B4: 20 * 1.5);
// INT8 twice that, HF32 half, FP32 a quarter; FP32 of the vector cores: two for each cube, 64
// lanes. One die of a 910C (Ascend910_93xx) is a device of its own.
constexpr Entry kDevices[] = {
    {"GB300", 1.3, 80, 1250, 2500, 2500, 5000, 165, 8000},
    {"B300", 1.2, 75, 1100, 2250, 2250, 4500, 150, 8000},
    {"GB200", 40, 80, 1250, 2500, 2500, 5000, 5000, 8000},
    {"B200", 37, 75, 1100, 2250, 2250, 4500, 4500, 7700},
    {"B100", 30, 60, 900, 1750, 1750, 3500, 3500, 8000},
    {"GH200", 34, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4000},
    {"H200 NVL", 30, 60, 417.5, 835.5, 835.5, 1671, 1671, 4800},
    {"H200", 34, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 4800},
    {"H100 NVL", 30, 60, 417.5, 835.5, 835.5, 1671, 1671, 3938},
    {"H100 PCIe", 26, 51, 378, 756, 756, 1513, 1513, 2039},
    {"H100", 34, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3352},
    {"H800 PCIe", 0.8, 51, 378, 756, 756, 1513, 1513, 2039},
    {"H800", 1, 67, 494.7, 989.4, 989.4, 1978.9, 1978.9, 3352},
    {"H20", 1, 44, 74, 148, 148, 296, 296, 4000},
    {"A100-SXM4-40GB", 9.7, 19.5, 156, 312, 312, 0, 624, 1555},
    {"A100-PCIE-40GB", 9.7, 19.5, 156, 312, 312, 0, 624, 1555},
    {"A100 80GB PCIe", 9.7, 19.5, 156, 312, 312, 0, 624, 1935},
    {"A100", 9.7, 19.5, 156, 312, 312, 0, 624, 2039},
    {"A800", 9.7, 19.5, 156, 312, 312, 0, 624, 2039},
    {"A30", 5.2, 10.3, 82, 165, 165, 0, 330, 933},
    {"A40", 0.585, 37.4, 74.8, 149.7, 149.7, 0, 299.3, 696},
    {"A10G", 0.55, 35, 35, 70, 70, 0, 140, 600},
    {"A10", 0.976, 31.2, 62.5, 125, 125, 0, 250, 600},
    {"A6000", 0.6, 38.7, 77.4, 154.8, 154.8, 0, 309.7, 768},
    {"V100-PCIE", 7, 14, 0, 112, 0, 0, 0, 900},
    {"V100S", 8.2, 16.4, 0, 130, 0, 0, 0, 1134},
    {"V100", 7.8, 15.7, 0, 125, 0, 0, 0, 900},
    {"P100", 5.3, 10.6, 0, 21.2, 0, 0, 0, 732},
    {"Tesla T4", 0.254, 8.1, 0, 65, 0, 0, 130, 320},
    {"L40S", 1.4, 91.6, 183, 362, 362, 733, 733, 864},
    {"L40", 1.4, 90.5, 90.5, 181, 181, 362, 362, 864},
    {"L20", 0.9, 59.8, 59.8, 119.5, 119.5, 239, 239, 864},
    {"L4", 0.47, 30.3, 60, 121, 121, 242.5, 242.5, 300},
    {"RTX 6000 Ada", 1.4, 91.1, 182.1, 364.2, 364.2, 728.5, 728.5, 960},
    {"RTX 5090", 1.6, 104.8, 104.8, 209.5, 209.5, 419, 838, 1792},
    {"RTX 5080", 0.88, 56.3, 56.3, 112.6, 112.6, 225.1, 450.2, 960},
    {"RTX 4090", 1.29, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6, 1008},
    {"RTX 4080", 0.76, 48.7, 48.7, 97.5, 97.5, 194.9, 389.9, 717},
    {"RTX 3090 Ti", 0.625, 40, 40, 80, 80, 0, 320, 1008},
    {"RTX 3090", 0.556, 35.6, 35.6, 71, 71, 0, 284, 936},
    {"RTX 3080", 0.465, 29.8, 29.8, 59.5, 59.5, 0, 238, 760},
    {"RTX 2080 Ti", 0.42, 13.4, 0, 53.8, 0, 0, 215.2, 616},
    {"TITAN RTX", 0.51, 16.3, 0, 130.5, 0, 0, 261, 672},
    {"MI355X", 78.6, 157.3, 0, 2516.6, 2516.6, 5033.2, 5033.2, 8000},
    {"MI350X", 72.1, 144.2, 0, 2306.9, 2306.9, 4613.7, 4613.7, 8000},
    {"MI325X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, 6000},
    {"MI308X", 0, 0, 0, 188.4, 188.4, 376.8, 376.8, 5300},
    {"MI300X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, 5300},
    {"MI300A", 122.6, 122.6, 490.3, 980.6, 980.6, 1961.2, 1961.2, 5300},
    // One of the two dies, as the driver shows them.
    {"MI250X", 47.9, 47.9, 0, 191.5, 191.5, 0, 191.5, 1638},
    {"MI250", 45.3, 45.3, 0, 181, 181, 0, 181, 1638},
    {"MI210", 45.3, 45.3, 0, 181, 181, 0, 181, 1638},
    {"MI100", 11.5, 46.1, 0, 184.6, 92.3, 0, 184.6, 1229},
    {"910B1", 0, 11.4, 181.9, 363.7, 363.7, 0, 727.5, 1600, 90.92},
    {"910B2", 0, 11.1, 176.9, 353.9, 353.9, 0, 707.8, 1600, 88.47},
    {"910B3", 0, 9.2, 147.5, 294.9, 294.9, 0, 589.8, 1600, 73.72},
    {"910B4-1", 0, 7.7, 122.9, 245.8, 245.8, 0, 491.5, 1600, 61.45},
    {"910B4", 0, 7.7, 122.9, 245.8, 245.8, 0, 491.5, 800, 61.45},
    {"910_93", 0, 11.1, 176.9, 353.9, 353.9, 0, 707.8, 1600, 88.47},
    {"910C", 0, 11.1, 176.9, 353.9, 353.9, 0, 707.8, 1600, 88.47},
    {"910ProA", 0, 4, 0, 256, 0, 0, 512, 1200},
    {"910A", 0, 4, 0, 256, 0, 0, 512, 1200},
    {"310P", 0, 0, 0, 70, 0, 0, 140, 204.8},
};

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// The word stands for itself: "A10" is not in "A100".
bool names(std::string_view device, std::string_view word) {
  for (size_t at = 0; at + word.size() <= device.size(); ++at) {
    size_t same = 0;
    while (same < word.size() && lower(device[at + same]) == lower(word[same])) ++same;
    if (same < word.size()) continue;
    const bool begins = at == 0 || !std::isalnum(static_cast<unsigned char>(device[at - 1])) ||
                        std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    const size_t end = at + word.size();
    const bool ends = end == device.size() ||
                      !std::isdigit(static_cast<unsigned char>(device[end])) ||
                      word.back() == '3';  // Ascend910_93 goes on with two digits
    if (begins && ends) return true;
  }
  return false;
}

PeakRates rates_of(const Entry& entry) {
  PeakRates rates;
  rates.float64 = entry.fp64 * kTera;
  rates.float32 = entry.fp32 * kTera;
  rates.float32_matrix = entry.fp32_matrix * kTera;
  rates.tf32 = entry.tf32 * kTera;
  rates.float16 = entry.fp16 * kTera;
  rates.bfloat16 = entry.bf16 * kTera;
  rates.float8 = entry.fp8 * kTera;
  rates.int8 = entry.int8 * kTera;
  rates.memory = entry.memory * kGiga;
  return rates;
}

}  // namespace

double PeakRates::matrix_rate(DataType type) const {
  switch (type) {
    case DataType::kFloat64:
      return float64;
    case DataType::kTensorFloat32:
      return tf32 > 0 ? tf32 : float32;
    case DataType::kFloat16:
      return float16;
    case DataType::kBFloat16:
      return bfloat16 > 0 ? bfloat16 : float32;
    case DataType::kFloat8:
      return float8;
    case DataType::kInt8:
      return int8;
    default:
      return float32_matrix > 0 ? float32_matrix : float32;
  }
}

double PeakRates::vector_rate(DataType type) const {
  return type == DataType::kFloat64 ? float64 : float32;
}

std::optional<PeakRates> known_peaks(std::string_view device_name) {
  for (const Entry& entry : kDevices) {
    if (names(device_name, entry.word)) return rates_of(entry);
  }
  return std::nullopt;
}

std::optional<PeakRates> device_peaks(const DeviceProperties& device) {
  if (const auto known = known_peaks(device.name)) return known;
  if (device.ai_cores == 0 || device.ai_core_hz <= 0) return std::nullopt;
  // A cube multiplies 16 * 16 by 16 * 16 numbers of 16 bits in a cycle.
  PeakRates rates;
  rates.float16 = static_cast<double>(device.ai_cores) * device.ai_core_hz * 4096 * 2;
  rates.bfloat16 = rates.float16;
  rates.int8 = 2 * rates.float16;
  return rates;
}

}  // namespace stepscope
