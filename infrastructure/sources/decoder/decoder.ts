import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { decoderCommand } from '../child-commands.ts'
import { SourceError } from '../source-error.ts'

/** A decoder process that takes a stretch of container bytes. */
export interface Decoder {
  /** It runs, or is gone. */
  readonly up: Promise<void>
  /** Resolves when there is room for more; throws `not_audio` when the decoder is gone. */
  readonly feed: (bytes: Buffer) => Promise<void>
  /** No more bytes; resolves when all their audio has been delivered, throws `not_audio` when they held none. */
  readonly finish: () => Promise<void>
  readonly kill: () => void
}

export interface DecoderOptions {
  readonly isolate: boolean
  /** Made by us of a stream: its container says at once what it holds. */
  readonly stream: boolean
  /** Container and codec, in FFmpeg's names, before the first audio. */
  readonly onFormat?: (text: string) => void
  /** s16le 16 kHz mono, whole samples; nothing more is decoded until it has resolved. */
  readonly onAudio: (pcm: Buffer) => Promise<void>
}

export const startDecoder = ({ isolate, stream, onFormat, onAudio }: DecoderOptions): Decoder => {
  const { file, args } = decoderCommand(isolate, stream)
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/' })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.once('error', () => resolve(null))
  })
  const up = new Promise<void>((resolve) => {
    child.stderr.once('data', () => resolve())
    void exited.then(() => resolve())
  })
  // Whatever else it may write there is dropped (F9).
  child.stderr.on('data', (bytes: Buffer) => {
    const format = /^format ([\w ,.-]{1,200})$/m.exec(bytes.toString('latin1', 0, 1000))?.[1]
    if (format !== undefined) onFormat?.(format)
  })
  // Its exit code says what there is to say.
  child.stdin.on('error', () => undefined)

  const deliver = async (): Promise<void> => {
    let rest: Buffer = Buffer.alloc(0)
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const whole = bytes.length - (bytes.length % 2)
      rest = bytes.subarray(whole)
      if (whole > 0) await onAudio(bytes.subarray(0, whole))
    }
  }
  const delivered = deliver()
  // Told by `finish`; until then nobody listens.
  delivered.catch(() => undefined)

  return {
    up,
    feed: async (bytes) => {
      if (child.stdin.write(bytes)) return
      await Promise.race([once(child.stdin, 'drain'), exited])
      if (child.exitCode !== null || child.signalCode !== null) throw new SourceError('not_audio')
    },
    finish: async () => {
      child.stdin.end()
      await delivered
      if ((await exited) !== 0) throw new SourceError('not_audio')
    },
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}
