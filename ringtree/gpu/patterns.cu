// Writes and checks test data where it lies, on the device: element i of a buffer is pattern[(i + phase) % period].
//
// For: measure/exact_data.py on buffers of a GPU (patterns.py launches these). Not for: choosing the data. Elements are
// compared by their bits. patterns.ptx is made of this file by the command in its first line; nothing else may change it.

#define FOR_EACH(i, length)                                                                             \
  for (unsigned long long i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;    \
       i < (length); i += static_cast<unsigned long long>(gridDim.x) * blockDim.x)

// found: index of the first element that differs, and how many do.
#define KERNELS(bytes, Element)                                                                         \
  extern "C" __global__ void write_##bytes(Element* out, const Element* pattern, unsigned long long length, \
                                           unsigned int phase, unsigned int period) {                   \
    FOR_EACH(i, length) out[i] = pattern[(i + phase) % period];                                         \
  }                                                                                                     \
  extern "C" __global__ void check_##bytes(const Element* in, const Element* pattern, unsigned long long length, \
                                           unsigned int phase, unsigned int period, unsigned long long* found) { \
    FOR_EACH(i, length) {                                                                               \
      if (in[i] != pattern[(i + phase) % period]) {                                                     \
        atomicMin(&found[0], i);                                                                        \
        atomicAdd(&found[1], 1ULL);                                                                     \
      }                                                                                                 \
    }                                                                                                   \
  }

KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, unsigned int)
KERNELS(8, unsigned long long)
