/** A mix counts as cancelled when its power is 12 dB below the loudest channel, until it is less than 9 dB below. */
const [CANCELLED, RESTORED] = [10 ** -1.2, 10 ** -0.9]
/** Another channel replaces the chosen one when it is louder by 6 dB. */
const LOUDER = 4
/** Time over which the mix is compared with the channels. */
const WINDOW_SECONDS = 1
/** Time over which the loudest channel is found: short, so the channel of the next speaker is taken at once. */
const CHOICE_SECONDS = 0.1
/** Time in which a channel is faded in or out. */
const FADE_SECONDS = 0.02

/** A block of samples from -1 to 1. All channels of a block have the same length. */
type Samples = Float32Array

/** The state of a mix between two blocks. Powers are sums of squares in which old samples count less and less. */
export interface Mix {
  readonly rate: number
  /** The share of each channel in the usual mix. */
  readonly weights: ReadonlyArray<number>
  readonly mixPower: number
  readonly powers: ReadonlyArray<number>
  readonly recentPowers: ReadonlyArray<number>
  /** The channel that replaces a cancelled mix; null: the usual mix. */
  readonly chosen: number | null
  /** The present share of each channel. It moves to the usual or to the chosen one. */
  readonly gains: ReadonlyArray<number>
}

/** The shares of the positions that FFmpeg numbers, as in its own mix. All other positions have the last share. */
const [CENTRE, FRONT, EFFECTS, OTHER] = [1, Math.SQRT1_2, 0, 0.5]
const SHARES: Readonly<Record<number, number>> =
  { 0: FRONT, 1: FRONT, 2: CENTRE, 3: EFFECTS, 29: FRONT, 30: FRONT, 35: EFFECTS }

/**
 * Returns the share of each channel in a mix. `mask`: a bit for the position of each channel, in order. Channels
 * without known positions are averaged.
 */
export const weightsOf = (channels: number, mask: bigint): ReadonlyArray<number> => {
  const positions = Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => ((mask >> BigInt(bit)) & 1n) === 1n)
  const shares = positions.map((bit) => SHARES[bit] ?? OTHER)
  const sum = shares.reduce((all, share) => all + share, 0)
  return shares.length === channels && sum > 0
    ? shares.map((share) => share / sum)
    : Array.from({ length: channels }, () => 1 / channels)
}

export const startMix = (weights: ReadonlyArray<number>, rate: number): Mix => {
  const silent = weights.map(() => 0)
  return { rate, weights, mixPower: 0, powers: silent, recentPowers: silent, chosen: null, gains: weights }
}

const squares = (samples: Samples): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return sum
}

const add = (into: Samples, samples: Samples, gain: number): void => {
  for (let at = 0; at < into.length; at += 1) into[at] = (into[at] ?? 0) + (samples[at] ?? 0) * gain
}

/** Adds samples while their gain moves to `target` by `step` for each sample. Returns the last gain. */
const fadeIn = (into: Samples, samples: Samples, from: number, target: number, step: number): number => {
  let gain = from
  for (let at = 0; at < into.length; at += 1) {
    gain += Math.max(-step, Math.min(step, target - gain))
    into[at] = (into[at] ?? 0) + (samples[at] ?? 0) * gain
  }
  return gain
}

/** Returns the channel that replaces the mix; null: the usual mix. */
const choose = ({ chosen, mixPower, powers, recentPowers }: Mix): number | null => {
  if (mixPower >= (chosen === null ? CANCELLED : RESTORED) * Math.max(...powers)) return null
  const loudest = Math.max(...recentPowers)
  const isPast = chosen === null || loudest > LOUDER * (recentPowers[chosen] ?? 0)
  return isPast ? recentPowers.indexOf(loudest) : chosen
}

/**
 * Mixes a block of at least one channel to one. Where channels cancel each other, as the two sides of an inverted
 * cable, the loudest channel replaces the mix. Blocks should be shorter than 0.1 s. Returns the state for the next one.
 */
export const mixChannels = (
  mix: Mix,
  channels: ReadonlyArray<Samples>,
): { readonly mix: Mix; readonly samples: Float32Array } => {
  const length = channels[0]?.length ?? 0
  const usual = new Float32Array(length)
  channels.forEach((samples, channel) => add(usual, samples, mix.weights[channel] ?? 0))

  const heard = channels.map(squares)
  const kept = (seconds: number): number => Math.exp(-length / mix.rate / seconds)
  const added = (powers: ReadonlyArray<number>, share: number): ReadonlyArray<number> =>
    powers.map((power, channel) => power * share + (heard[channel] ?? 0))
  const next = {
    ...mix,
    mixPower: mix.mixPower * kept(WINDOW_SECONDS) + squares(usual),
    powers: added(mix.powers, kept(WINDOW_SECONDS)),
    recentPowers: added(mix.recentPowers, kept(CHOICE_SECONDS)),
  }
  const chosen = choose(next)
  if (chosen === null && mix.gains === mix.weights) return { mix: { ...next, chosen }, samples: usual }

  const samples = new Float32Array(length)
  const targets = chosen === null ? mix.weights : mix.weights.map((_, channel) => (channel === chosen ? 1 : 0))
  const step = 1 / (FADE_SECONDS * mix.rate)
  const gains = channels.map((channel, index) =>
    fadeIn(samples, channel, mix.gains[index] ?? 0, targets[index] ?? 0, step))
  const isUsual = chosen === null && gains.every((gain, index) => gain === mix.weights[index])
  return { mix: { ...next, chosen, gains: isUsual ? mix.weights : gains }, samples }
}
