/**
 * The graph that a GPU has to run before it is trusted with a model, as the bytes of an ONNX file: LAYERS times a matrix product and
 * a tanh, which keeps the numbers within bounds. Small: a GPU that is drawn by the CPU takes a thousand times as long as a
 * real one. Field numbers: onnx.proto of https://github.com/onnx/onnx.
 */
export const PROBE_SIZE = 256
const LAYERS = 4

const varint = (value: number): ReadonlyArray<number> => (value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))])
const number = (field: number, value: number): Uint8Array => Uint8Array.of(field * 8, ...varint(value))
const message = (field: number, ...content: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = Buffer.concat(content)
  return Buffer.concat([Uint8Array.of(field * 8 + 2, ...varint(bytes.length)), bytes])
}
const text = (field: number, value: string): Uint8Array => message(field, Buffer.from(value))

/** NodeProto: input 1, output 2, op_type 4; in GraphProto field 1. */
const node = (type: string, inputs: ReadonlyArray<string>, output: string): Uint8Array =>
  message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, type))

/** ValueInfoProto: name 1, type 2, of a tensor of 32-bit floats (1) with the dimensions [PROBE_SIZE, PROBE_SIZE]. */
const square = (field: number, name: string): Uint8Array => {
  const dimension = message(1, number(1, PROBE_SIZE))
  return message(field, text(1, name), message(2, message(1, number(1, 1), message(2, dimension, dimension))))
}

/** Inputs `x` and `weights`, output `y`, each [PROBE_SIZE, PROBE_SIZE]. */
export const probeGraph = (): Uint8Array => {
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    node('MatMul', [layer === 0 ? 'x' : `h${layer}`, 'weights'], `p${layer}`),
    node('Tanh', [`p${layer}`], layer === LAYERS - 1 ? 'y' : `h${layer + 1}`),
  ]).flat()
  const graph = message(7, ...layers, text(2, 'probe'), square(11, 'x'), square(11, 'weights'), square(12, 'y'))
  // ModelProto: ir_version 1, opset_import 8 (version 2).
  return Buffer.concat([number(1, 8), graph, message(8, number(2, 17))])
}
