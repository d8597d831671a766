import { createFft } from '../fft.ts'

export interface LogMelSettings {
  readonly samplingRate: number
  readonly fftSize: number
  readonly hopLength: number
  readonly melBins: number
}

/** Input of the encoder for one window: [melBins][frames], frames = samples / hop. */
export interface Features {
  readonly data: Float32Array
  readonly frames: number
}

interface MelFilter {
  readonly firstBin: number
  readonly weights: Float64Array
}

const LOWEST_POWER = 1e-10
/** Upper limit of the reference's mel filters in hertz, at any sampling rate. */
const HIGHEST_FREQUENCY = 8000

/** Slaney's mel scale: linear up to 1 kHz, then logarithmic. */
const hertzToMel = (hertz: number): number =>
  hertz < 1000 ? (3 * hertz) / 200 : 15 + Math.log(hertz / 1000) * (27 / Math.log(6.4))
const melToHertz = (mel: number): number =>
  mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((Math.log(6.4) / 27) * (mel - 15))

/** Triangles between neighbouring mel points, each of area 1 (Slaney's normalisation). */
const melFilters = ({ samplingRate, fftSize, melBins }: LogMelSettings): ReadonlyArray<MelFilter> => {
  const top = hertzToMel(HIGHEST_FREQUENCY)
  const edge = (index: number): number => melToHertz((top * index) / (melBins + 1))
  return Array.from({ length: melBins }, (_, mel) => {
    const [low, middle, high] = [edge(mel), edge(mel + 1), edge(mel + 2)]
    const weights = Array.from({ length: fftSize / 2 + 1 }, (_weight, bin) => {
      const frequency = (bin * samplingRate) / fftSize
      const slope = Math.min((frequency - low) / (middle - low), (high - frequency) / (high - middle))
      return (Math.max(0, slope) * 2) / (high - low)
    })
    const firstBin = Math.max(
      0,
      weights.findIndex((weight) => weight > 0),
    )
    return {
      firstBin,
      weights: Float64Array.from(weights.slice(firstBin, weights.findLastIndex((weight) => weight > 0) + 1)),
    }
  })
}

/** Mirrors half a window at both ends of the samples, so frame f is centred on sample f·hop. */
const reflectPad = (samples: Float32Array, half: number): Float32Array => {
  const padded = new Float32Array(samples.length + 2 * half)
  padded.set(samples, half)
  for (let i = 0; i < half; i++) {
    padded[half - 1 - i] = samples[i + 1] ?? 0
    padded[half + samples.length + i] = samples[samples.length - 2 - i] ?? 0
  }
  return padded
}

const isSilent = (padded: Float32Array, from: number, to: number): boolean => {
  for (let i = from; i < to; i++) if (padded[i] !== 0) return false
  return true
}

/**
 * Creates Whisper's front end: Hann window, power spectrum, Slaney mel filters, log10, clamped to 8 below the loudest
 * value of the window, then (x + 4) / 4. One complex transform computes two real frames. Frames of digital silence skip
 * the transform.
 */
export const createLogMel = (settings: LogMelSettings): ((samples: Float32Array) => Features) => {
  const { fftSize, hopLength, melBins } = settings
  const bins = fftSize / 2 + 1
  const fft = createFft(fftSize)
  const filters = melFilters(settings)
  const hann = Float64Array.from({ length: fftSize }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / fftSize))
  const input = new Float64Array(2 * fftSize)
  const powers: readonly [Float64Array, Float64Array] = [new Float64Array(bins), new Float64Array(bins)]

  const twoSpectra = (padded: Float32Array, first: number, second: number): void => {
    for (let i = 0; i < fftSize; i++) {
      input[2 * i] = (padded[first + i] ?? 0) * (hann[i] ?? 0)
      input[2 * i + 1] = (padded[second + i] ?? 0) * (hann[i] ?? 0)
    }
    const spectrum = fft(input)
    for (let bin = 0; bin < bins; bin++) {
      const mirror = bin === 0 ? 0 : fftSize - bin
      const re = spectrum[2 * bin] ?? 0
      const im = spectrum[2 * bin + 1] ?? 0
      const mirrorRe = spectrum[2 * mirror] ?? 0
      const mirrorIm = spectrum[2 * mirror + 1] ?? 0
      powers[0][bin] = ((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2) / 4
      powers[1][bin] = ((im + mirrorIm) ** 2 + (mirrorRe - re) ** 2) / 4
    }
  }

  const melEnergy = ({ firstBin, weights }: MelFilter, power: Float64Array): number => {
    let energy = 0
    for (let i = 0; i < weights.length; i++) energy += (weights[i] ?? 0) * (power[firstBin + i] ?? 0)
    return Math.log10(Math.max(LOWEST_POWER, energy))
  }

  return (samples) => {
    const frames = Math.floor(samples.length / hopLength)
    const padded = reflectPad(samples, fftSize / 2)
    const data = new Float32Array(melBins * frames).fill(Math.log10(LOWEST_POWER))
    for (let frame = 0; frame < frames; frame += 2) {
      const first = frame * hopLength
      // For an odd number of frames, the second frame of the last pair is computed and dropped.
      const second = first + hopLength
      if (isSilent(padded, first, Math.min(second + fftSize, padded.length))) continue
      twoSpectra(padded, first, second)
      filters.forEach((filter, mel) => {
        data[mel * frames + frame] = melEnergy(filter, powers[0])
        if (frame + 1 < frames) data[mel * frames + frame + 1] = melEnergy(filter, powers[1])
      })
    }
    const floor = data.reduce((loudest, value) => Math.max(loudest, value), -Infinity) - 8
    for (let i = 0; i < data.length; i++) data[i] = (Math.max(data[i] ?? 0, floor) + 4) / 4
    return { data, frames }
  }
}

/** Returns the samples as floats, padded with silence to `length`. */
export const windowOf = (samples: Int16Array, length: number): Float32Array => {
  const window = new Float32Array(length)
  for (let i = 0; i < samples.length; i++) window[i] = (samples[i] ?? 0) / 32768
  return window
}
