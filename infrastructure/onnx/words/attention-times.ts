/** Frames of the median filter, as in Whisper's own word times. */
const MEDIAN_WIDTH = 7
const REACH = (MEDIAN_WIDTH - 1) / 2

/** Returns the median of each frame and its neighbours, mirrored at the ends. */
const smoothed = (row: Float32Array): Float32Array => {
  const last = row.length - 1
  const around = new Float32Array(MEDIAN_WIDTH)
  return row.map((_, frame) => {
    for (let i = 0; i < MEDIAN_WIDTH; i++) {
      const at = Math.abs(frame - REACH + i)
      around[i] = row[Math.max(0, at > last ? 2 * last - at : at)] ?? 0
    }
    return around.sort()[REACH] ?? 0
  })
}

/** Returns the cost of each token in each frame as a matrix [tokens][frames]: the mean of all heads. */
const costsOf = (
  attention: ReadonlyArray<ReadonlyArray<Float32Array>>,
  tokens: number,
  frames: number,
): Float32Array => {
  const costs = new Float32Array(tokens * frames)
  for (const head of attention) {
    const rows = head.map((row) => row.slice(0, frames))
    for (let frame = 0; frame < frames; frame++) {
      const mean = rows.reduce((sum, row) => sum + (row[frame] ?? 0), 0) / tokens
      const deviation = Math.sqrt(rows.reduce((sum, row) => sum + ((row[frame] ?? 0) - mean) ** 2, 0) / tokens) || 1
      for (const row of rows) row[frame] = ((row[frame] ?? 0) - mean) / deviation
    }
    for (const [token, row] of rows.entries()) {
      const likely = smoothed(row)
      for (let frame = 0; frame < frames; frame++) {
        const at = token * frames + frame
        costs[at] = (costs[at] ?? 0) - (likely[frame] ?? 0) / attention.length
      }
    }
  }
  return costs
}

/** Step into a cell of the path; 0 is the diagonal step. */
const [NEXT_TOKEN, NEXT_FRAME] = [1, 2]

/** Returns the step of the cheapest path into each cell: [tokens + 1][frames + 1]. */
const stepsThrough = (costs: Float32Array, tokens: number, frames: number): Uint8Array => {
  const width = frames + 1
  const steps = new Uint8Array((tokens + 1) * width)
  let before = new Float64Array(width).fill(Infinity)
  before[0] = 0
  for (let token = 1; token <= tokens; token++) {
    const sums = new Float64Array(width).fill(Infinity)
    for (let frame = 1; frame <= frames; frame++) {
      const [diagonal, down, right] = [before[frame - 1] ?? 0, before[frame] ?? 0, sums[frame - 1] ?? 0]
      const least = Math.min(diagonal, down, right)
      if (diagonal > least || diagonal === down || diagonal === right)
        steps[token * width + frame] = down < right ? NEXT_TOKEN : NEXT_FRAME
      sums[frame] = least + (costs[(token - 1) * frames + frame - 1] ?? 0)
    }
    before = sums
  }
  return steps
}

/**
 * Returns the first frame of each token: the cheapest monotonic path (dynamic time warping) through the attention. Each
 * token is normalised against the other tokens and smoothed over time, as in Whisper's own word times (Radford et al.,
 * 2022).
 *
 * @param attention [heads][tokens][frames], at least one frame
 * @param frames number of frames with audio
 */
export const tokenStarts = (
  attention: ReadonlyArray<ReadonlyArray<Float32Array>>,
  frames: number,
): ReadonlyArray<number> => {
  const tokens = attention[0]?.length ?? 0
  const steps = stepsThrough(costsOf(attention, tokens, frames), tokens, frames)
  const starts = Array.from({ length: tokens }, () => 0)
  for (let [token, frame] = [tokens, frames]; token > 0 && frame > 0;) {
    starts[token - 1] = frame - 1
    const step = steps[token * (frames + 1) + frame]
    if (step !== NEXT_FRAME) token -= 1
    if (step !== NEXT_TOKEN) frame -= 1
  }
  return starts
}
