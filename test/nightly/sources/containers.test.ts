import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { toneExpression, tonesIn } from '../../support/audio/tones.ts'
import { FFMPEG, filesOf, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const SECONDS = 6
const DELAY = 3
const RATE = 16_000
const run = promisify(execFile)

const PICTURES = ['-f', 'lavfi', '-i', `testsrc=d=${SECONDS + DELAY}:s=64x64:r=10`]
const HLS = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod']
const FAST = ['-movflags', '+faststart']
const FRAGMENTS = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof']

interface Form {
  readonly file: string
  readonly codec: ReadonlyArray<string>
  /** With a track of pictures. */
  readonly pictures?: string
  /** The audio begins some seconds after the pictures, or after the beginning of a timeline of its own. */
  readonly isLate?: boolean
}

const wav = (codec: string): Form => ({ file: `${codec}.wav`, codec: ['-c:a', codec] })
const late = (file: string, ...codec: ReadonlyArray<string>): Form => ({ file, codec, isLate: true })

const FORMS: ReadonlyArray<Form> = [
  ...['pcm_s16le', 'pcm_s24le', 'pcm_f32le', 'pcm_u8', 'pcm_alaw', 'pcm_mulaw', 'adpcm_ms'].map(wav),
  { file: 'a.flac', codec: ['-c:a', 'flac'] }, { file: 'a.aiff', codec: [] }, { file: 'a.caf', codec: [] },
  { file: 'a.au', codec: [] }, { file: 'a.w64', codec: [] }, { file: 'a.mp3', codec: ['-c:a', 'libmp3lame'] },
  { file: 'a.aac', codec: ['-c:a', 'aac'] }, { file: 'a.ogg', codec: ['-c:a', 'libvorbis'] },
  { file: 'a.opus', codec: ['-c:a', 'libopus'] }, { file: 'flac.ogg', codec: ['-c:a', 'flac'] },
  { file: 'a.ac3', codec: ['-c:a', 'ac3', '-ar', '48000'] },
  { file: 'a.eac3', codec: ['-c:a', 'eac3', '-ar', '48000'] },
  { file: 'a.m4a', codec: ['-c:a', 'aac'] }, { file: 'fast.m4a', codec: ['-c:a', 'aac', ...FAST] },
  { file: 'alac.m4a', codec: ['-c:a', 'alac', ...FAST] },
  { file: 'fragments.mp4', codec: ['-c:a', 'aac', ...FRAGMENTS] },
  { file: 'a.mov', codec: ['-c:a', 'pcm_s16be', ...FAST] }, { file: 'a.mka', codec: ['-c:a', 'aac'] },
  { file: 'a.webm', codec: ['-c:a', 'libopus'] }, { file: 'a.wma', codec: ['-c:a', 'wmav2'] },
  { file: 'a.ts', codec: ['-c:a', 'aac'] }, { file: 'mp2.ts', codec: ['-c:a', 'mp2'] },
  { file: 'a.flv', codec: ['-c:a', 'aac'] },
  { file: 'picture.avi', codec: ['-c:a', 'libmp3lame'], pictures: 'mpeg4' },
  { file: 'picture.mpg', codec: ['-c:a', 'mp2', '-ar', '44100'], pictures: 'mpeg1video' },
  { file: 'picture.ts', codec: ['-c:a', 'aac'], pictures: 'mpeg2video' },
  { file: 'picture.mkv', codec: ['-c:a', 'aac'], pictures: 'mpeg4' },
  { file: 'ts.m3u8', codec: ['-c:a', 'aac', ...HLS] },
  { file: 'fmp4.m3u8', codec: ['-c:a', 'aac', ...HLS, '-hls_segment_type', 'fmp4'] },
  late('late.m4a', '-c:a', 'aac', ...FAST), late('late.mka', '-c:a', 'flac'),
  late('late-fragments.mp4', '-c:a', 'aac', '-movflags', '+frag_keyframe+delay_moov'),
  { ...late('late.mp4', '-c:a', 'aac', ...FAST), pictures: 'mpeg4' },
  { ...late('late.mkv', '-c:a', 'libopus'), pictures: 'mpeg4' },
  { ...late('late.ts', '-c:a', 'aac'), pictures: 'mpeg2video' },
]

/** Writes tone n in second n in this form. Returns the folder. */
const make = async (t: ExecutionContext, { file, codec, pictures, isLate = false }: Form): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const begin = ['-itsoffset', String(isLate ? DELAY : 0)]
  const tones = [...begin, '-f', 'lavfi', '-t', String(SECONDS), '-i', toneExpression(0)]
  const video = pictures === undefined ? [] : [...PICTURES, '-map', '0:a', '-map', '1:v', '-c:v', pictures, '-r', '25']
  await run(FFMPEG, ['-v', 'error', '-y', ...tones, ...video, ...codec, file], { cwd: path })
  return path
}

/** Returns the number of the tone around the middle of each second. Null means silence. */
const tonesOfSeconds = (samples: Int16Array): ReadonlyArray<number | null> =>
  Array.from({ length: Math.round(samples.length / RATE) }, (_, second) => {
    const part = samples.subarray((second + 0.15) * RATE, (second + 0.85) * RATE)
    const [[tone] = [null]] = [...tonesIn(part)].toSorted(([, a], [, b]) => b - a)
    return tone
  })

const byUrl = async (t: ExecutionContext, folder: string, file: string): Promise<Int16Array> => {
  const server = await serve(t, filesOf(folder))
  const source = startRetryingSource(t, server.url(file))
  await eventually(() => assert.equal(source.ends.length, 1), { timeoutMs: 60_000 })
  t.deepEqual(source.ends, ['completed'], file)
  return source.samples()
}

withFfmpeg('each container gives its whole audio at the times of the media, as a file and from a URL', async (t) => {
  t.timeout(600_000)
  for (const form of FORMS) {
    const folder = await make(t, form)
    const tones = Array.from({ length: SECONDS }, (_, second) => second)
    const expected = form.isLate === true ? [...Array.from({ length: DELAY }, () => null), ...tones] : tones
    // A playlist is no file of the command line.
    if (!form.file.endsWith('.m3u8'))
      t.deepEqual(tonesOfSeconds(await readAudioFile(join(folder, form.file))), expected, `file ${form.file}`)
    t.deepEqual(tonesOfSeconds(await byUrl(t, folder, form.file)), expected, `URL ${form.file}`)
  }
})
