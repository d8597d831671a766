import { existsSync } from 'node:fs'
import { Decoder, Demuxer, FilterAPI } from 'node-av/api'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { CommandError } from '../../command-error.ts'

/** False for a URL, because FFmpeg also opens URLs. */
const isMissingFile = (path: string): boolean => !path.includes('://') && !existsSync(path)

/**
 * Reads a file in any format that FFmpeg knows as 16-bit samples, 16 kHz, mono. Throws an Error with file and reason.
 */
export const readAudioFile = async (path: string): Promise<Int16Array> => {
  try {
    await using input = await Demuxer.open(path)
    const stream = input.audio()
    if (stream === undefined) throw new Error('it has no audio stream')
    using decoder = await Decoder.create(stream)
    using resampler = FilterAPI.create(`aresample=${SAMPLE_RATE},aformat=sample_fmts=s16:channel_layouts=mono`)
    const chunks: Array<Uint8Array> = []
    for await (using frame of resampler.frames(decoder.frames(input.packets(stream.index)))) {
      const plane = frame?.data?.[0]
      if (frame && plane) chunks.push(Uint8Array.from(plane.subarray(0, frame.nbSamples * 2)))
    }
    const bytes = Buffer.concat(chunks)
    return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  } catch (error) {
    if (isMissingFile(path)) throw new CommandError(`There is no file ${path}.`)
    throw new Error(`cannot read ${path} as audio: ${messageOf(error)}`, { cause: error })
  }
}
