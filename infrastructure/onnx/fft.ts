/**
 * Discrete Fourier transform of interleaved complex values (re, im, re, im …). The result is valid until the next
 * call.
 */
export type Fft = (input: Float64Array) => Float64Array

interface Stage {
  readonly radix: number
  /** Size of the transforms of earlier stages. */
  readonly done: number
  /** Number of transforms to join after this stage. */
  readonly rest: number
  /** exp(-2πi·q·j / (radix·done)), q-major. */
  readonly twiddles: Float64Array
  /** exp(-2πi·k·q / radix), k-major. */
  readonly roots: Float64Array
}

const unitRoots = (rows: number, columns: number, size: number): Float64Array => {
  const out = new Float64Array(2 * rows * columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const angle = (-2 * Math.PI * ((row * column) % size)) / size
      out[2 * (row * columns + column)] = Math.cos(angle)
      out[2 * (row * columns + column) + 1] = Math.sin(angle)
    }
  }
  return out
}

const radicesOf = (size: number): ReadonlyArray<number> => {
  const radices: number[] = []
  let rest = size
  for (const radix of [4, 2, 3, 5, 7]) {
    while (rest % radix === 0) {
      radices.push(radix)
      rest /= radix
    }
  }
  return rest > 1 ? [...radices, rest] : radices
}

/** One decimation-in-time pass: `from` is read as [radix][rest][done], `to` written as [rest][radix·done]. */
const runStage = (stage: Stage, from: Float64Array, to: Float64Array, column: Float64Array): void => {
  const { radix, done, rest, twiddles, roots } = stage
  for (let s = 0; s < rest; s++) {
    for (let j = 0; j < done; j++) {
      for (let q = 0; q < radix; q++) {
        const source = 2 * ((q * rest + s) * done + j)
        const twiddle = 2 * (q * done + j)
        const re = from[source] ?? 0
        const im = from[source + 1] ?? 0
        const c = twiddles[twiddle] ?? 0
        const d = twiddles[twiddle + 1] ?? 0
        column[2 * q] = re * c - im * d
        column[2 * q + 1] = re * d + im * c
      }
      for (let k = 0; k < radix; k++) {
        let re = 0
        let im = 0
        for (let q = 0; q < radix; q++) {
          const root = 2 * (k * radix + q)
          const a = column[2 * q] ?? 0
          const b = column[2 * q + 1] ?? 0
          const c = roots[root] ?? 0
          const d = roots[root + 1] ?? 0
          re += a * c - b * d
          im += a * d + b * c
        }
        const target = 2 * ((s * radix + k) * done + j)
        to[target] = re
        to[target + 1] = im
      }
    }
  }
}

/**
 * Stockham's autosort algorithm with mixed radices: any size, fast for products of 2, 3, 5 and 7 (Whisper uses 400).
 */
export const createFft = (size: number): Fft => {
  const radices = radicesOf(size)
  let done = 1
  const stages = radices.map((radix): Stage => {
    const stage = {
      radix,
      done,
      rest: size / (done * radix),
      twiddles: unitRoots(radix, done, radix * done),
      roots: unitRoots(radix, radix, radix),
    }
    done *= radix
    return stage
  })
  const even = new Float64Array(2 * size)
  const odd = new Float64Array(2 * size)
  const column = new Float64Array(2 * Math.max(1, ...radices))
  return (input) =>
    stages.reduce((from, stage, index) => {
      const to = index % 2 === 0 ? even : odd
      runStage(stage, from, to, column)
      return to
    }, input)
}
