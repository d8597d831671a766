import type { Tensor } from 'onnxruntime-node'

export type Tensors = Readonly<Record<string, Tensor>>

/** Those that a GPU's memory holds. */
export const onDevice = (tensors: Tensors): ReadonlyArray<Tensor> => Object.values(tensors).filter(({ location }) => location === 'gpu-buffer')

/**
 * Gives the GPU's memory back, for the garbage collector does not see its size; nothing may run on these tensors any more. Those in main memory,
 * and those that are given back already, are passed over.
 */
export const disposeTensors = (tensors: Tensors): void => {
  for (const tensor of onDevice(tensors)) tensor.dispose()
}
