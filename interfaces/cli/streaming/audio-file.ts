import { Decoder, Demuxer, FilterAPI } from 'node-av/api'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'

/** Reads any audio that FFmpeg knows into s16le 16 kHz mono; throws an Error that names the file and what is wrong. */
export const readAudioFile = async (path: string): Promise<Int16Array> => {
  try {
    await using input = await Demuxer.open(path)
    const stream = input.audio()
    if (stream === undefined) throw new Error('it has no audio stream')
    using decoder = await Decoder.create(stream)
    using resampler = FilterAPI.create(`aresample=${SAMPLE_RATE},aformat=sample_fmts=s16:channel_layouts=mono`)
    const pieces: Array<Uint8Array> = []
    for await (using frame of resampler.frames(decoder.frames(input.packets(stream.index)))) {
      const plane = frame?.data?.[0]
      if (frame && plane) pieces.push(Uint8Array.from(plane.subarray(0, frame.nbSamples * 2)))
    }
    const bytes = Buffer.concat(pieces)
    return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  } catch (error) {
    throw new Error(`cannot read ${path} as audio: ${messageOf(error)}`, { cause: error })
  }
}
