import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { decoderCommand } from '../child-commands.ts'
import { NOT_ISOLATED_EXIT_CODE } from '../isolation/exit-code.ts'
import { SourceError } from '../source-error.ts'
import { createPieceReader, type TimedPcm } from './timed-pcm.ts'

/** A decoder process for one stretch of container bytes. */
export interface Decoder {
  readonly up: Promise<void>
  /** Resolves when all audio is delivered and the process has closed its output. */
  readonly delivered: Promise<void>
  /** Resolves when the process has ended and the system no longer lists it. */
  readonly ended: Promise<unknown>
  /**
   * Resolves when there is room for more bytes, or when the audio has ended before the bytes. Throws `not_audio` or
   * `not_isolated` when the process has failed.
   */
  readonly feed: (bytes: Buffer) => Promise<void>
  /** Marks the end of the bytes and resolves when all audio is delivered. Throws `not_audio` or `not_isolated`. */
  readonly finish: () => Promise<void>
  /** Resolves as `ended`. */
  readonly kill: () => Promise<unknown>
}

export interface DecoderOptions {
  /** The process runs only without access to files and sockets. */
  readonly isolate: boolean
  /** Whether we made the container ourselves, so its header describes the audio. */
  readonly stream: boolean
  /** Reports container and codec by FFmpeg's names, sample rate and channels, before the first audio. */
  readonly onFormat?: (text: string) => void
  /** Called once, when audio cannot be decoded and is left out. `seconds`: its time after the media begins. */
  readonly onDamaged?: (seconds: number) => void
  /** Reports why isolation failed. */
  readonly onRefused?: (reason: string) => void
  /** Decoding waits until this resolves. The first piece is empty: its time is the beginning of the media. */
  readonly onAudio: (audio: TimedPcm) => Promise<void>
}

export const startDecoder = (options: DecoderOptions): Decoder => {
  const { isolate, stream, onFormat, onDamaged, onRefused, onAudio } = options
  const { file, args } = decoderCommand(isolate, stream)
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/' })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.on('error', () => resolve(null))
  })
  const lines = createInterface({ input: child.stderr })
  const linesRead = once(lines, 'close')
  const up = new Promise<void>((resolve) => {
    lines.on('line', (line) => { if (line === 'up') resolve() })
    void exited.then(() => resolve())
  })
  // Ignores other output on stderr.
  lines.on('line', (line) => {
    const [, word, text = ''] = /^(format|damaged|refused) ([\w :,.'@/()-]{1,200})$/.exec(line) ?? []
    if (word === 'format') onFormat?.(text)
    if (word === 'damaged') onDamaged?.(Number(text))
    if (word === 'refused') onRefused?.(text)
  })
  // Ignores write errors, because the exit code reports the failure.
  child.stdin.on('error', () => undefined)
  const checkEnd = (): void => {
    if (child.exitCode === 0) return
    throw new SourceError(child.exitCode === NOT_ISOLATED_EXIT_CODE ? 'not_isolated' : 'not_audio')
  }

  const deliver = async (): Promise<void> => {
    const read = createPieceReader()
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
      for (const audio of read(bytes)) await onAudio(audio)
    }
  }
  // Invalid output ends the process, which `feed` and `finish` then report.
  const delivered = deliver().catch(() => void child.kill('SIGKILL'))

  return {
    up,
    delivered,
    ended: exited,
    feed: async (bytes) => {
      if (child.stdin.write(bytes)) return
      // Not `once` of node:events: it would throw the write error of a decoder that has ended.
      await Promise.race([new Promise<void>((resolve) => child.stdin.once('drain', resolve)), exited])
      if (child.exitCode !== null || child.signalCode !== null) checkEnd()
    },
    finish: async () => {
      child.stdin.end()
      await delivered
      await exited
      await linesRead
      checkEnd()
    },
    kill: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}
