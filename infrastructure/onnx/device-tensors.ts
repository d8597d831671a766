import type { Tensor } from 'onnxruntime-node'

export type Tensors = Readonly<Record<string, Tensor>>

/** Returns the tensors in a GPU's memory. */
export const onDevice = (tensors: Tensors): ReadonlyArray<Tensor> =>
  Object.values(tensors).filter(({ location }) => location === 'gpu-buffer')

/**
 * Releases the GPU memory of tensors, whose size the garbage collector does not know. The tensors must not be used
 * afterwards. Skips tensors in main memory and tensors that are already released.
 */
export const disposeTensors = (tensors: Tensors): void => {
  for (const tensor of onDevice(tensors)) tensor.dispose()
}
