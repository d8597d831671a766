/** For `node --import`: all results of graphs pass through main memory, and none stays on the GPU. */
import { InferenceSession } from 'onnxruntime-node'

const create = InferenceSession.create.bind(InferenceSession) as (
  graph: Uint8Array,
  options: InferenceSession.SessionOptions,
) => Promise<InferenceSession>

Object.assign(InferenceSession, {
  create: (graph: Uint8Array, options: InferenceSession.SessionOptions) =>
    create(graph, { ...options, preferredOutputLocation: 'cpu' }),
})
