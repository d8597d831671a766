import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { decoderCommand } from '../child-commands.ts'
import { REFUSED } from '../isolation/refused.ts'
import { SourceError } from '../source-error.ts'
import { createPieceReader } from './timed-pcm.ts'
import type { TimedPcm } from './timed-pcm.ts'

/** A decoder process that takes a stretch of container bytes. */
export interface Decoder {
  /** It runs, or is gone. */
  readonly up: Promise<void>
  /** Resolves when there is room for more; throws `not_audio` or `not_isolated` when the decoder is gone. */
  readonly feed: (bytes: Buffer) => Promise<void>
  /** No more bytes; resolves when all their audio has been delivered, throws `not_audio` when they held none. */
  readonly finish: () => Promise<void>
  readonly kill: () => void
}

export interface DecoderOptions {
  /** It can open neither file nor socket, or it does not run. */
  readonly isolate: boolean
  /** Made by us of a stream: its container says at once what it holds. */
  readonly stream: boolean
  /** Container and codec, in FFmpeg's names, before the first audio. */
  readonly onFormat?: (text: string) => void
  /** Why the system did not let it be isolated. */
  readonly onRefused?: (reason: string) => void
  /** Nothing more is decoded until it has resolved. */
  readonly onAudio: (audio: TimedPcm) => Promise<void>
}

export const startDecoder = ({ isolate, stream, onFormat, onRefused, onAudio }: DecoderOptions): Decoder => {
  const { file, args } = decoderCommand(isolate, stream)
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/' })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.once('error', () => resolve(null))
  })
  const lines = createInterface({ input: child.stderr })
  const told = once(lines, 'close')
  const up = new Promise<void>((resolve) => {
    lines.on('line', (line) => { if (line === 'up') resolve() })
    void exited.then(() => resolve())
  })
  // Whatever else it may write there is dropped.
  lines.on('line', (line) => {
    const [, word, text = ''] = /^(format|refused) ([\w :,.'@/()-]{1,200})$/.exec(line) ?? []
    if (word === 'format') onFormat?.(text)
    if (word === 'refused') onRefused?.(text)
  })
  // Its exit code says what there is to say.
  child.stdin.on('error', () => undefined)
  const failure = (): SourceError => new SourceError(child.exitCode === REFUSED ? 'not_isolated' : 'not_audio')

  const deliver = async (): Promise<void> => {
    const read = createPieceReader()
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
      for (const audio of read(bytes)) await onAudio(audio)
    }
  }
  // Whoever writes what is no audio decodes nothing more; its end is told by `feed` and `finish`.
  const delivered = deliver().catch(() => void child.kill('SIGKILL'))

  return {
    up,
    feed: async (bytes) => {
      if (child.stdin.write(bytes)) return
      await Promise.race([once(child.stdin, 'drain'), exited])
      if (child.exitCode !== null || child.signalCode !== null) throw failure()
    },
    finish: async () => {
      child.stdin.end()
      await delivered
      const code = await exited
      await told
      if (code !== 0) throw failure()
    },
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}
