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
  /** exp(-2πi·q·j / (radix·done)) for each value, read as [radix][rest][done] with the indices q, s and j. */
  readonly twiddles: Float64Array
  /** exp(-2πi·k·q / radix), k-major. */
  readonly roots: Float64Array
}

/** Returns [rows][repeats][columns] with exp(-2πi·row·column / size). */
const unitRoots = (rows: number, columns: number, size: number, repeats = 1): Float64Array => {
  const out = new Float64Array(2 * rows * repeats * columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const angle = (-2 * Math.PI * ((row * column) % size)) / size
      for (let repeat = 0; repeat < repeats; repeat++) {
        const at = 2 * ((row * repeats + repeat) * columns + column)
        out[at] = Math.cos(angle)
        out[at + 1] = Math.sin(angle)
      }
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

/** Multiplies two lists of complex values. */
const multiply = (left: Float64Array, right: Float64Array, to: Float64Array): void => {
  for (let i = 0; i < to.length; i += 2) {
    const a = left[i] ?? 0
    const b = left[i + 1] ?? 0
    const c = right[i] ?? 0
    const d = right[i + 1] ?? 0
    to[i] = a * c - b * d
    to[i + 1] = a * d + b * c
  }
}

/** Transforms the columns of a stage: `from` is read as [radix][rest][done], `to` written as [rest][radix·done]. */
type Join = (stage: Stage, from: Float64Array, to: Float64Array) => void

/** Radix 4: all roots are 1, -1, i or -i. */
const joinFour: Join = ({ done, rest }, from, to) => {
  const [read, write] = [2 * rest * done, 2 * done]
  for (let s = 0; s < rest; s++) {
    for (let j = 0; j < done; j++) {
      let source = 2 * (s * done + j)
      const re0 = from[source] ?? 0
      const im0 = from[source + 1] ?? 0
      const re1 = from[(source += read)] ?? 0
      const im1 = from[source + 1] ?? 0
      const re2 = from[(source += read)] ?? 0
      const im2 = from[source + 1] ?? 0
      const re3 = from[(source += read)] ?? 0
      const im3 = from[source + 1] ?? 0
      let target = 2 * (4 * s * done + j)
      to[target] = re0 + re2 + re1 + re3
      to[target + 1] = im0 + im2 + im1 + im3
      to[(target += write)] = re0 - re2 + im1 - im3
      to[target + 1] = im0 - im2 - re1 + re3
      to[(target += write)] = re0 + re2 - re1 - re3
      to[target + 1] = im0 + im2 - im1 - im3
      to[(target += write)] = re0 - re2 - im1 + im3
      to[target + 1] = im0 - im2 + re1 - re3
    }
  }
}

const [COS_1, COS_2] = [Math.cos((2 * Math.PI) / 5), Math.cos((4 * Math.PI) / 5)]
const [SIN_1, SIN_2] = [Math.sin((2 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)]

/** Radix 5: the roots are 1 and two conjugate pairs, so each pair of values needs one sum and one difference. */
const joinFive: Join = ({ done, rest }, from, to) => {
  const [read, write] = [2 * rest * done, 2 * done]
  for (let s = 0; s < rest; s++) {
    for (let j = 0; j < done; j++) {
      let source = 2 * (s * done + j)
      const re0 = from[source] ?? 0
      const im0 = from[source + 1] ?? 0
      const re1 = from[(source += read)] ?? 0
      const im1 = from[source + 1] ?? 0
      const re2 = from[(source += read)] ?? 0
      const im2 = from[source + 1] ?? 0
      const re3 = from[(source += read)] ?? 0
      const im3 = from[source + 1] ?? 0
      const re4 = from[(source += read)] ?? 0
      const im4 = from[source + 1] ?? 0
      const evenRe1 = re0 + COS_1 * (re1 + re4) + COS_2 * (re2 + re3)
      const evenIm1 = im0 + COS_1 * (im1 + im4) + COS_2 * (im2 + im3)
      const evenRe2 = re0 + COS_2 * (re1 + re4) + COS_1 * (re2 + re3)
      const evenIm2 = im0 + COS_2 * (im1 + im4) + COS_1 * (im2 + im3)
      const oddRe1 = SIN_1 * (re1 - re4) + SIN_2 * (re2 - re3)
      const oddIm1 = SIN_1 * (im1 - im4) + SIN_2 * (im2 - im3)
      const oddRe2 = SIN_2 * (re1 - re4) - SIN_1 * (re2 - re3)
      const oddIm2 = SIN_2 * (im1 - im4) - SIN_1 * (im2 - im3)
      let target = 2 * (5 * s * done + j)
      to[target] = re0 + re1 + re2 + re3 + re4
      to[target + 1] = im0 + im1 + im2 + im3 + im4
      to[(target += write)] = evenRe1 + oddIm1
      to[target + 1] = evenIm1 - oddRe1
      to[(target += write)] = evenRe2 + oddIm2
      to[target + 1] = evenIm2 - oddRe2
      to[(target += write)] = evenRe2 - oddIm2
      to[target + 1] = evenIm2 + oddRe2
      to[(target += write)] = evenRe1 - oddIm1
      to[target + 1] = evenIm1 + oddRe1
    }
  }
}

/** Any radix: multiplies each value by each root. */
const joinAny: Join = ({ radix, done, rest, roots }, from, to) => {
  for (let s = 0; s < rest; s++) {
    for (let j = 0; j < done; j++) {
      for (let k = 0; k < radix; k++) {
        let re = 0
        let im = 0
        for (let q = 0; q < radix; q++) {
          const root = 2 * (k * radix + q)
          const source = 2 * ((q * rest + s) * done + j)
          const a = from[source] ?? 0
          const b = from[source + 1] ?? 0
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

const JOINS: Readonly<Record<number, Join>> = { 4: joinFour, 5: joinFive }

/**
 * Stockham's autosort algorithm with mixed radices: any size; fastest for products of 4 and 5, such as Whisper's 400.
 */
export const createFft = (size: number): Fft => {
  const radices = radicesOf(size)
  let done = 1
  const stages = radices.map((radix): Stage => {
    const rest = size / (done * radix)
    const twiddles = unitRoots(radix, done, radix * done, rest)
    const stage = { radix, done, rest, twiddles, roots: unitRoots(radix, radix, radix) }
    done *= radix
    return stage
  })
  const twisted = new Float64Array(2 * size)
  const output = new Float64Array(2 * size)
  return (input) =>
    stages.reduce((from, stage) => {
      const join = JOINS[stage.radix] ?? joinAny
      multiply(from, stage.twiddles, twisted)
      join(stage, twisted, output)
      return output
    }, input)
}
