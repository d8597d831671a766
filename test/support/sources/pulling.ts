import type { ExecutionContext } from 'ava'
import type { PullEnd, Puller, SourceTarget } from '../../../application/ports/audio-source.ts'
import { pullSource, type PullOptions } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import type { SourceSink } from '../../../infrastructure/sources/source-kind.ts'
import { decideIsolation } from '../../../infrastructure/sources/source-isolation.ts'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'

/** The isolation of a machine that supports it. */
export const ISOLATED = decideIsolation(null, null)

export interface Pulling {
  readonly puller: Puller
  readonly seconds: () => number
  /** The HLS media sequences up to which all audio was delivered, in order. */
  readonly delivered: ReadonlyArray<number>
  readonly ends: ReadonlyArray<PullEnd>
  readonly deaths: ReadonlyArray<string>
  /** Pulls a source. Resolves to the end of the attempt, or to the reason why the process died. */
  readonly pull: (target: Partial<SourceTarget> & Pick<SourceTarget, 'url'>) => Promise<PullEnd | string>
}

/** Starts a real puller process and records its events. `allow`: reachable networks other than public addresses. */
export const startPulling = (
  t: ExecutionContext,
  allow: ReadonlyArray<string> = ['127.0.0.1/32'],
  ownPort: number | null = null,
): Pulling => {
  let samples = 0
  const [delivered, ends, deaths]: [number[], PullEnd[], string[]] = [[], [], []]
  let settle: (end: PullEnd | string) => void = () => undefined
  const puller = createPullers({ rules: () => ({ allow, ownPort }), isolation: ISOLATED })({
    began: () => undefined,
    stretch: () => undefined,
    audio: (pcm) => { samples += pcm.length },
    delivered: (sequence) => delivered.push(sequence),
    targetDuration: () => undefined,
    damaged: () => undefined,
    ended: (end) => {
      ends.push(end)
      settle(end)
    },
    died: (reason) => {
      deaths.push(reason)
      settle(reason)
    },
  })
  t.teardown(puller.stop)
  return {
    puller,
    seconds: () => samples / 16_000,
    delivered,
    ends,
    deaths,
    pull: ({ url, mediaSequence = null }) =>
      new Promise((resolve) => {
        settle = resolve
        puller.pull({ url, mediaSequence })
      }),
  }
}

/** A sink that does nothing with a source. */
export const IGNORING_SINK: SourceSink = {
  bytes: async () => undefined,
  stretchEnds: async () => undefined,
  segment: () => undefined,
  targetDuration: () => undefined,
  awaitAudio: () => undefined,
}

/** Pulls a source once without a decoder. Returns its bytes, the code of its end, and whether a retry may help. */
export const pullOnce = async (url: string, more: Partial<PullOptions> = {}) => {
  const pieces: Array<Buffer> = []
  const sink = { ...IGNORING_SINK, bytes: async (bytes: Buffer) => void pieces.push(bytes) }
  const rules = { allow: ['127.0.0.1/32'], ownPort: null }
  const ended = pullSource({ url, after: null, rules, ...more }, sink, new AbortController().signal)
  const { code, retry } = await ended.then(() => ({ code: 'complete', retry: false }), sourceErrorOf)
  return { code, retry, bytes: Buffer.concat(pieces) }
}
