import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { demoSpeech, QUIET } from './audio.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark, Contest, Round, Skipped } from './harness.ts'
import { openTinyModel, TINY_ABSENT, type TinyModel } from './tiny-model.ts'

const PYTHON = process.env['STENOLOG_BENCH_PYTHON'] ?? 'python3'
/** Seconds of speech in each window. Both sides pad the window to the model's 30 s. */
const WINDOW_SECONDS = 10
const WINDOWS = 4
const TOKENS = 40

const script = (name: string): string => join(import.meta.dirname, 'peer', name)

/** Returns the reason why the Python interpreter cannot run the peer, or null when it can. */
const whyPeerCannotRun = (): Promise<string | null> =>
  promisify(execFile)(PYTHON, ['-c', 'import faster_whisper, onnx']).then(
    () => null,
    (error: unknown) => {
      const lastLine = String(error).trim().split('\n').at(-1)
      return `${PYTHON} cannot import faster_whisper and onnx (${lastLine}); set STENOLOG_BENCH_PYTHON`
    },
  )

/** Starts faster-whisper in its own process. A round transcribes all windows once. */
const openPeer = async (
  model: string,
  pcm: string,
  suppressed: TinyModel['suppressed'],
  threads: number,
  workers: number,
) => {
  const options = { window: WINDOW_SECONDS, tokens: TOKENS, threads, workers }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const args = [script('faster_whisper_rounds.py'), model, pcm, ...flags, '--suppress', ...suppressed.map(String)]
  const child = spawn(PYTHON, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('faster-whisper ended')
    return JSON.parse(line.value)
  }
  await answer()
  return {
    round: async (): Promise<void> => {
      child.stdin.write('\n')
      const { tokens } = (await answer()) as { readonly tokens: ReadonlyArray<number> }
      if (tokens.length !== WINDOWS || tokens.some((count) => count !== TOKENS))
        throw new Error(`faster-whisper decoded ${tokens.join()} tokens`)
    },
    close: async () => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

const contest = async (threads: number): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TOKENS)
  if (tiny === null) return TINY_ABSENT
  const missingPackage = await whyPeerCannotRun()
  if (missingPackage !== null) {
    await tiny.remove()
    return { skipped: missingPackage }
  }
  const [converted, pcm] = [join(tiny.parent, 'ctranslate2'), join(tiny.parent, 'speech.s16le')]
  await promisify(execFile)(PYTHON, [script('convert.py'), tiny.original, converted, '--check'])
  const samples = (await demoSpeech()).samples.slice(0, WINDOWS * WINDOW_SECONDS * SAMPLE_RATE)
  await writeFile(pcm, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
  // faster-whisper can use all threads for one window, or process several windows at once. The better mode counts.
  const modes = threads === 1 ? [[1, 1] as const] : [[threads, 1] as const, [1, threads] as const]
  const peers = await Promise.all(
    modes.map(([threadsPerWorker, workers]) => openPeer(converted, pcm, tiny.suppressed, threadsPerWorker, workers)),
  )
  const engine = createSpeechEngine({ models: new Map([[tiny.name, tiny.folder]]), workers: threads, logger: QUIET })
  const transcribe = async (index: number): Promise<void> => {
    const window = samples.slice(index * WINDOW_SECONDS * SAMPLE_RATE, (index + 1) * WINDOW_SECONDS * SAMPLE_RATE)
    orThrow(await engine.transcribe({ model: tiny.name, language: 'en', samples: window }))
  }
  const seconds = WINDOWS * WINDOW_SECONDS
  return {
    ours: () =>
      timed(seconds, async () => void (await Promise.all(Array.from({ length: WINDOWS }, (_, i) => transcribe(i))))),
    peers: async () => {
      const rounds: Array<Round> = []
      for (const { round } of peers) rounds.push(await timed(seconds, round))
      return rounds.reduce((best, round) => (round.seconds < best.seconds ? round : best))
    },
    close: async () => {
      await Promise.all([engine.close(), ...peers.map(({ close }) => close())])
      await tiny.remove()
    },
  }
}

const peer = (threads: number): Benchmark => ({
  name: `peer-${threads}`,
  meaning: `whisper-tiny-random on our engine, ${threads} worker thread(s): ${WINDOWS} windows of 30 s with `
    + `${WINDOW_SECONDS} s of speech, ${TOKENS} tokens each, greedy`,
  peer: `faster-whisper (CTranslate2, int8) with the same weights, windows and tokens, beam 1, ${threads} `
    + `thread(s)${threads === 1 ? '' : ', the better of its two modes'}`,
  unit: 'seconds of audio',
  basis: 'wall',
  atLeast: 1,
  rounds: 5,
  warmUp: true,
  prepare: () => contest(threads),
})

export const peers: ReadonlyArray<Benchmark> = [peer(1), peer(2)]
