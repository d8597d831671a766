import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE, VAD_FRAME } from '../application/ports/engine.ts'
import { createSpeechEngine } from '../infrastructure/onnx/engine-client.ts'
import { logIn } from '../interfaces/cli/api-client.ts'
import { startThrowAwayInstance } from '../interfaces/cli/instance.ts'
import { streamLive } from '../interfaces/cli/live-stream.ts'
import { demoSpeech, QUIET, ROOT } from './audio.ts'
import type { Sentence } from './audio.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openTinyModel, TINY_ABSENT } from './tiny-model.ts'

const LIVES = 4
/** Tokens for each pass of the model with random weights. */
const TOKENS = 40

/** The least that a transcript can cost: speech detection, and one pass over each sentence by who knows where they lie. */
const openPeer = (model: string, folder: string, samples: Int16Array, sentences: ReadonlyArray<Sentence>) => {
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), logger: QUIET })
  const succeed = async (outcome: Promise<E.Either<{ readonly reason: string }, unknown>>): Promise<void> => {
    const done = await outcome
    if (E.isLeft(done)) throw new Error(done.left.reason)
  }
  const transcribe = async (): Promise<void> => {
    await succeed(engine.detectSpeech(samples.slice(0, samples.length - (samples.length % VAD_FRAME)), null)())
    for (const { start, end } of sentences) {
      const heard = samples.slice(Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE))
      await succeed(engine.transcribe({ model, language: 'en', samples: heard })())
    }
  }
  return { transcribe, close: engine.close }
}

/** @param until seconds of the demo's speech that are heard */
const contest = async (model: string, folder: string, until: number, settings: Readonly<Record<string, string>> = {}): Promise<Contest> => {
  const speech = await demoSpeech()
  const sentences = speech.sentences.filter(({ end }) => end <= until)
  const samples = speech.samples.subarray(0, until * SAMPLE_RATE)
  const instance = await startThrowAwayInstance(settings)
  const client = await logIn(instance.url, instance.username, instance.password)
  const peer = openPeer(model, folder, samples, sentences)
  const seconds = (LIVES * samples.length) / SAMPLE_RATE
  const all = (one: () => Promise<unknown>) => timed(seconds, async () => void (await Promise.all(Array.from({ length: LIVES }, one))))
  return {
    ours: () => all(async () => streamLive(client, await client.createLive({ model, language: 'en' }), samples, { speed: Infinity })),
    peers: () => all(peer.transcribe),
    close: async () => {
      await peer.close()
      await instance.dispose()
    },
  }
}

const contestOfTiny = async (): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TOKENS)
  if (tiny === null) return TINY_ABSENT
  const { close, ...sides } = await contest(tiny.name, tiny.folder, 20, { STENOLOG_MODELS_DIR: tiny.parent })
  return {
    ...sides,
    close: async () => {
      await close()
      await tiny.remove()
    },
  }
}

const service = (name: string, model: string, prepare: Benchmark['prepare']): Benchmark => ({
  name,
  meaning: `${LIVES} lives at once through the whole service with ${model}: audio into its WebSockets as fast as it takes it, until the last frame is out`,
  peer: 'the engine alone: speech detection and one pass over each sentence, whose places it is told',
  unit: 'seconds of audio',
  basis: 'wall',
  atLeast: null,
  rounds: 3,
  warmUp: true,
  prepare,
})

/** The service as a whole, over real sockets, beside the bare engine. */
export const services: ReadonlyArray<Benchmark> = [
  service('service-demo', 'demo-en', () => contest('demo-en', join(ROOT, 'models/demo-en'), 50)),
  service('service', 'whisper-tiny-random', contestOfTiny),
]
