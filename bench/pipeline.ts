import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE, VAD_FRAME } from '../application/ports/engine.ts'
import type { Logger } from '../application/ports/environment.ts'
import { createSpeechEngine } from '../infrastructure/onnx/engine-client.ts'
import { logIn } from '../interfaces/cli/api-client.ts'
import { readAudioFile } from '../interfaces/cli/audio-file.ts'
import { startThrowAwayInstance } from '../interfaces/cli/instance.ts'
import { streamLive } from '../interfaces/cli/live-stream.ts'
import type { Benchmark } from './harness.ts'
import { rate } from './harness.ts'

const ROOT = join(import.meta.dirname, '..')
const SAMPLE = join(ROOT, 'interfaces/cli/demo/sample')
const LIVES = 4
const QUIET: Logger = { info: () => undefined, warn: console.warn, error: console.error }

interface Sentence {
  readonly start: number
  readonly end: number
}

/** The least that a transcript can cost: speech detection, and one pass over each sentence by who knows where they lie. */
const openPeer = (samples: Int16Array, sentences: ReadonlyArray<Sentence>) => {
  const engine = createSpeechEngine({ models: new Map([['demo-en', join(ROOT, 'models/demo-en')]]), logger: QUIET })
  const succeed = async (outcome: Promise<E.Either<{ readonly reason: string }, unknown>>): Promise<void> => {
    const done = await outcome
    if (E.isLeft(done)) throw new Error(done.left.reason)
  }
  const transcribe = async (): Promise<void> => {
    await succeed(engine.detectSpeech(samples.slice(0, samples.length - (samples.length % VAD_FRAME)), null)())
    for (const { start, end } of sentences) {
      const heard = samples.slice(Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE))
      await succeed(engine.transcribe({ model: 'demo-en', language: 'en', samples: heard })())
    }
  }
  return { transcribe, close: engine.close }
}

/** The service as a whole, over real sockets, beside the bare engine. */
export const pipeline: Benchmark = {
  name: 'pipeline',
  meaning: `seconds of speech transcribed a second, ${LIVES} lives at once as fast as the service takes them`,
  peer: 'the engine alone: speech detection and one pass over each sentence, whose places it is told',
  prepare: async () => {
    const { sentences } = JSON.parse(await readFile(`${SAMPLE}.json`, 'utf8')) as { readonly sentences: ReadonlyArray<Sentence> }
    const samples = await readAudioFile(`${SAMPLE}.flac`)
    const instance = await startThrowAwayInstance()
    const client = await logIn(instance.url, instance.username, instance.password)
    const peer = openPeer(samples, sentences)
    const seconds = (LIVES * samples.length) / SAMPLE_RATE
    const all = (one: () => Promise<unknown>) => rate(seconds, async () => void (await Promise.all(Array.from({ length: LIVES }, one))))
    return {
      ours: () => all(async () => streamLive(client, await client.createLive({ model: 'demo-en', language: 'en' }), samples, { speed: Infinity })),
      peers: () => all(peer.transcribe),
      close: async () => {
        await peer.close()
        await instance.dispose()
      },
    }
  },
}
