import { expect, test } from 'vitest'

import { shortName } from './shortName'

test('kernels can be told apart', () => {
  const name = (text: string) => shortName(text, 64)
  expect(name('void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::StoreWithCast<1> >(int, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3})')).toBe('unrolled_elementwise_kernel<direct_copy_kernel_cuda, …>')
  expect(name('void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, long)')).toBe('cunn_SoftMaxBackward<LogSoftMaxBackwardEpilogue, …>')
  expect(name('void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8::Params)')).toBe('Kernel2<cutlass_80_tensorop_bf16_s16816gemm_128x128_tn_align8>')
})

test('what fits stays as it is', () => {
  expect(shortName('void at::native::k<4, float>(int)', 60)).toBe('void at::native::k<4, float>(int)')
  expect(shortName('', 10)).toBe('')
})

test('names that are not understood lose their middle', () => {
  expect(shortName('nccl_0123456789_0123456789_ring', 21)).toBe('nccl_0123456…789_ring')
  for (const text of ['void a::b<c<d, e::f', 'a::b>c::d(e', 'x::operator<(y)', 'a::(((((((', '::::::::::', 'void <<<<<<<<<', 'a::b(c)::{lambda(']) {
    const shown = shortName(text, 8)
    expect(shown.length, text).toBeLessThanOrEqual(8)
    expect(shown, text).not.toBe('')
  }
  expect(shortName(`a::${'<'.repeat(100_000)}`, 40)).toHaveLength(40)
})
