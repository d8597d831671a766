import { existsSync } from 'node:fs'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { advanceClock, INITIAL_CLOCK } from '../../../application/running/clock/media-clock.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { decode } from '../../../infrastructure/sources/decoder/decode.ts'
import { createFileStart } from '../../../infrastructure/sources/decoder/file-start.ts'
import { MissingTrack } from '../../../infrastructure/sources/decoder/input.ts'
import { SourceError } from '../../../infrastructure/sources/source-error.ts'
import { CommandError } from '../../command-error.ts'

/** False for a URL, because FFmpeg also opens URLs. */
const isMissingFile = (path: string): boolean => !path.includes('://') && !existsSync(path)

const errorOf = (path: string, error: unknown): Error => {
  if (isMissingFile(path)) return new CommandError(`There is no file ${path}.`)
  if (error instanceof MissingTrack) return new CommandError(`${path}: ${error.message}.`)
  const code = error instanceof SourceError ? error.code : null
  if (code === 'no_audio') return new CommandError(`There is no audio in ${path}.`)
  const reason = code === 'not_audio' ? 'its format is unknown' : messageOf(error)
  return new Error(`cannot read ${path} as audio: ${reason}`, { cause: error })
}

export interface ReadOptions {
  /** The number of the audio track, from 1; null: the default track. */
  readonly track?: number | null
  /** Called once, when audio cannot be decoded and is left out. `seconds`: its time in the file. */
  readonly damaged?: (seconds: number) => void
}

/**
 * Reads a file in any format that FFmpeg knows as 16-bit samples, 16 kHz, mono. Sample n is the sound at n / 16,000 s
 * of the file: where it has no audio, there is silence. Throws an Error with file and reason.
 */
export const readAudioFile = async (path: string, options: ReadOptions = {}): Promise<Int16Array> => {
  const chunks: Array<Buffer> = []
  const fromStart = createFileStart()
  let clock = INITIAL_CLOCK
  try {
    await decode({
      ...options,
      input: { path },
      write: async (audio) => {
        for (const { pcm, time } of fromStart(audio)) {
          const advanced = advanceClock(clock, { length: pcm.length / 2 / SAMPLE_RATE, time, arrived: 0 })
          clock = advanced.clock
          chunks.push(Buffer.alloc(Math.round(advanced.gap * SAMPLE_RATE) * 2), pcm)
        }
      },
    })
  } catch (error) {
    throw errorOf(path, error)
  }
  const bytes = Buffer.concat(chunks)
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
