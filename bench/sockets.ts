import type { Benchmark, Contest, Round } from './harness.ts'
import { openPair, type SocketPair } from './socket-processes.ts'

export const LISTENERS = 5000
const FRAMES = 40
/** Time between two captions. */
export const FRAME_INTERVAL_MS = 40
/** Number of audio frames of 100 ms. */
const AUDIO_FRAMES = 10_000
/** A trial passes when the 99th percentile of its delivery times is at most this. */
const MAX_P99_MS = 250
/** Duration of one trial. */
const TRIAL_MS = 4000
/** Only every 20th client reads during a trial, because all clients would need more CPU time than the server. */
const READER_STRIDE = 20
/** A rate fails after this number of failed trials, because other load on the machine can make a trial fail. */
const TRIES = 3
/** The search ends when the lowest failed rate is at most this factor above the highest passed rate. */
const SEARCH_PRECISION = 1.08

const openBoth = async (
  token: 'sender' | 'listener',
  count: number,
  round: (pair: SocketPair) => Promise<Round>,
): Promise<Contest> => {
  const [ours, peer] = [await openPair('ours', token, count), await openPair('loop', token, count)]
  return {
    ours: () => round(ours),
    peers: () => round(peer),
    close: async () => {
      ours.close()
      peer.close()
    },
  }
}

const fanOut: Benchmark = {
  name: 'fan-out',
  meaning: `captions to ${LISTENERS} listeners of one session, from the bus through the hub to their sockets; counts `
    + `the CPU time of the server process only`,
  peer: 'a loop over the clients of a bare ws server that sends each the same bytes',
  unit: 'frames delivered',
  basis: 'cpu',
  atLeast: 0.9,
  rounds: 5,
  warmUp: true,
  prepare: () => openBoth('listener', LISTENERS, (pair) => pair.fanOut(FRAMES, FRAME_INTERVAL_MS)),
}

/**
 * Searches the highest rate of captions per second that passes a trial. The rate grows by half until a trial fails.
 * Then the search bisects between the highest passed and the lowest failed rate.
 */
const createSearch = () => {
  let [passedRate, failedRate, failures] = [0, Infinity, 0]
  return {
    next: (): number | null => {
      if (failedRate / passedRate < SEARCH_PRECISION) return null
      if (failedRate === Infinity) return passedRate === 0 ? 8 : passedRate * 1.5
      return passedRate === 0 ? failedRate / 2 : Math.sqrt(passedRate * failedRate)
    },
    record: (rate: number, hasPassed: boolean): void => {
      failures = hasPassed ? 0 : failures + 1
      if (hasPassed) passedRate = rate
      if (failures < TRIES) return
      failedRate = rate
      failures = 0
    },
    passedRate: () => passedRate,
  }
}

const contestOfRates = async (): Promise<Contest> => {
  const sides = [
    { pair: await openPair('ours', 'listener', LISTENERS), search: createSearch() },
    { pair: await openPair('loop', 'listener', LISTENERS), search: createSearch() },
  ] as const
  // Trials alternate between the sides, so other load on the machine affects both.
  const searched = async (): Promise<void> => {
    for (let open = true; open; ) {
      open = false
      for (const { pair, search } of sides) {
        const rate = search.next()
        if (rate === null) continue
        open = true
        const { p99 } = await pair.fanOut(Math.ceil((rate * TRIAL_MS) / 1000), 1000 / rate, READER_STRIDE)
        search.record(rate, p99 <= MAX_P99_MS)
      }
    }
  }
  let both: Promise<void> | null = null
  const result = async (side: 0 | 1): Promise<Round> => {
    both ??= searched()
    await both
    return { work: sides[side].search.passedRate(), seconds: 1, cpuSeconds: null }
  }
  return {
    ours: () => result(0),
    peers: () => result(1),
    close: async () => {
      for (const { pair } of sides) pair.close()
    },
  }
}

const fanOutRate: Benchmark = {
  name: 'fan-out-rate',
  meaning: `captions per second to ${LISTENERS} listeners of one session at which 1 % of the deliveries exceed `
    + `${MAX_P99_MS} ms`,
  peer: 'the same rate of a loop over the clients of a bare ws server',
  unit: 'captions a second',
  basis: 'count',
  atLeast: null,
  rounds: 1,
  warmUp: false,
  prepare: contestOfRates,
}

const ingest: Benchmark = {
  name: 'ingest',
  meaning: 'base64 audio frames of 100 ms from one sender through the protocol (checks, limits, decoding) to the '
    + 'pipeline; counts the CPU time of the server process only',
  peer: 'a bare ws server that parses the JSON and decodes the base64, unchecked',
  unit: 'seconds of audio',
  basis: 'cpu',
  atLeast: 0.7,
  rounds: 5,
  warmUp: true,
  prepare: () => openBoth('sender', 1, (pair) => pair.speak(AUDIO_FRAMES)),
}

/** Comparisons of the service's socket handling with plain ws. */
export const sockets: ReadonlyArray<Benchmark> = [fanOut, fanOutRate, ingest]
