import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { alignWords, comparableWords } from '../../../domain/transcript/word-alignment.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { DEMO, textOf, transcribe } from '../../support/engine/test-engine.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { FFMPEG, filesOf, SAMPLE, serve } from '../../support/sources/audio-server.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** The speech: the first two sentences of the demo's sample, which is 16-bit, 16 kHz, mono. */
const SECONDS = 8
/** What the demo's model hears in it. */
const TEXT = 'Good morning everyone and welcome to the meeting. Today is Saturday the twenty first of November.'
/** Parts of the speech with one sentence each, in seconds. Their times are measured. */
const SENTENCES = [[0.3, 3.4], [4.4, 7.6]] as const
/** Largest difference of a sentence's time, in seconds. Encoders put samples before the audio: an edit list says so. */
const EXACT = 0.1
const ROUNDED = 0.25

/** The options with which ffmpeg writes each form. Its first input is the speech, its second one a picture. */
type Forms = Readonly<Record<string, string>>

const HLS = '-f hls -hls_time 2 -hls_playlist_type vod -hls_list_size 0'
const FILM = '-map 1:v -map 0:a -c:v mpeg4 -shortest'

const LOSSLESS: Forms = {
  'WAVE': '-c:a pcm_s16le a.wav',
  'WAVE, 24 bits': '-c:a pcm_s24le a.wav',
  'WAVE, float': '-c:a pcm_f32le a.wav',
  'WAVE, two channels': '-c:a pcm_s16le -ac 2 a.wav',
  'RF64': '-rf64 always a.wav',
  'Wave64': 'a.w64',
  'AIFF': 'a.aiff',
  'AU': 'a.au',
  'CAF, PCM': '-c:a pcm_s16be a.caf',
  'FLAC': 'a.flac',
  'Ogg, FLAC': '-c:a flac a.ogg',
  'Matroska, FLAC': '-c:a flac a.mkv',
  'Matroska, PCM': '-c:a pcm_s16le a.mkv',
  'AVI, PCM': '-c:a pcm_s16le a.avi',
  'QuickTime, PCM': '-c:a pcm_s16le a.mov',
  'MP4, ALAC': '-c:a alac a.m4a',
  'MP4, FLAC': '-c:a flac -strict -2 a.mp4',
  'HLS, MP4, FLAC': `-c:a flac -strict -2 ${HLS} -hls_segment_type fmp4 a.m3u8`,
}

const EDIT_LISTS: Forms = {
  'MP4, AAC': '-c:a aac -movflags +faststart a.m4a',
  'MP4, AAC, its index at the end': '-c:a aac a.m4a',
  'MP4, AAC, in fragments': '-c:a aac -movflags +frag_keyframe+empty_moov+default_base_moof a.mp4',
  'MP4, MP3': '-c:a libmp3lame -ar 44100 a.mp4',
  'MP4, Opus': '-c:a libopus a.mp4',
  'MP4, AC-3': '-c:a ac3 -ar 48000 a.mp4',
  'MP4, AAC, a film': `${FILM} -c:a aac -movflags +faststart a.mp4`,
  'QuickTime, AAC, a film': `${FILM} -c:a aac a.mov`,
  '3GPP, AAC': '-c:a aac a.3gp',
}

const LOSSY: Forms = {
  'WAVE, A-law': '-c:a pcm_alaw a.wav',
  'WAVE, µ-law': '-c:a pcm_mulaw a.wav',
  'WAVE, ADPCM': '-c:a adpcm_ms a.wav',
  'WAVE, 44.1 kHz': '-ar 44100 a.wav',
  'MP3': '-b:a 64k a.mp3',
  'MP3, variable rate, 44.1 kHz, two channels': '-q:a 4 -ar 44100 -ac 2 a.mp3',
  'MP3, without a header': '-b:a 64k -write_xing 0 -id3v2_version 0 a.mp3',
  'AAC': '-c:a aac a.aac',
  'AAC, LATM': '-c:a aac -f latm a.latm',
  'AC-3': '-ar 48000 a.ac3',
  'Enhanced AC-3': '-ar 48000 a.eac3',
  'Ogg, Opus': '-c:a libopus a.ogg',
  'Ogg, Vorbis': '-c:a libvorbis a.ogg',
  'Ogg, Speex': '-c:a libspeex a.ogg',
  'WebM, Opus': '-c:a libopus a.webm',
  'WebM, Vorbis': '-c:a libvorbis a.webm',
  'Matroska, AAC, a film': `${FILM} -c:a aac a.mkv`,
  'Matroska, AC-3': '-c:a ac3 -ar 48000 a.mkv',
  'MPEG-TS, AAC': '-c:a aac a.ts',
  'MPEG-TS, MP2, a film': `${FILM} -c:a mp2 a.ts`,
  'MPEG-TS, AC-3': '-c:a ac3 -ar 48000 a.ts',
  'MPEG programme stream, MP2': '-c:a mp2 -f mpeg a.mpg',
  'FLV, AAC': '-c:a aac a.flv',
  'FLV, MP3': '-c:a libmp3lame -ar 44100 a.flv',
  'ASF, WMA': '-c:a wmav2 -ar 44100 a.wma',
  'AVI, MP3': '-c:a libmp3lame a.avi',
  'HLS, MPEG-TS': `-c:a aac ${HLS} a.m3u8`,
  'HLS, MPEG-TS, a film': `${FILM} -c:a aac ${HLS} a.m3u8`,
  'HLS, MPEG-TS, ranges of one file': `-c:a aac ${HLS} -hls_flags single_file a.m3u8`,
  'HLS, MP4': `-c:a aac ${HLS} -hls_segment_type fmp4 a.m3u8`,
  'HLS, MP4, ranges of one file': `-c:a aac ${HLS} -hls_segment_type fmp4 -hls_flags single_file a.m3u8`,
  'HLS, AAC': '-c:a aac -f segment -segment_time 2 -segment_format adts -segment_list a.m3u8 %d.aac',
  'HLS, MP3': '-c:a libmp3lame -f segment -segment_time 2 -segment_format mp3 -segment_list a.m3u8 %d.mp3',
  'HLS, a list of variants': `-c:a aac ${HLS} -master_pl_name main.m3u8 a.m3u8`,
}

/** The picture begins a second before the speech. */
const LATER: Forms = {
  'MP4, AAC': `${FILM} -c:a aac a.mp4`,
  'MP4, AAC, in fragments': `${FILM} -c:a aac -movflags +frag_keyframe+empty_moov+default_base_moof a.mp4`,
  'QuickTime, PCM': `${FILM} -c:a pcm_s16le a.mov`,
  'Matroska, AAC': `${FILM} -c:a aac a.mkv`,
  'WebM, Opus': '-map 1:v -map 0:a -c:v vp8 -shortest -c:a libopus a.webm',
  'MPEG-TS, AAC': `${FILM} -c:a aac a.ts`,
  'MPEG programme stream, MP2': '-map 1:v -map 0:a -c:v mpeg1video -shortest -c:a mp2 a.mpg',
  'FLV, AAC': '-map 1:v -map 0:a -c:v flv1 -shortest -c:a aac a.flv',
}

/** FFmpeg reads no keys from files of this machine. */
const ENCRYPTED: Forms = {
  'HLS, MPEG-TS, encrypted': `-c:a aac ${HLS} -hls_enc 1 -hls_enc_key 0123456789abcdef a.m3u8`,
}

const run = promisify(execFile)
const logger = createRecordingLogger()
const engine = createSpeechEngine({ models: new Map([['demo-en', DEMO]]), workers: 1, logger })
const speech = (await readAudioFile(SAMPLE)).slice(0, SECONDS * SAMPLE_RATE)
test.after.always(engine.close)

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=25']

interface Made {
  readonly folder: string
  readonly name: string
}

/** Writes the speech in a form, into a folder that is removed with the test. `begins`: the time of the speech. */
const make = async (t: ExecutionContext, form: string, begins: number): Promise<Made> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const input = ['-itsoffset', String(begins), '-t', String(SECONDS), '-i', SAMPLE]
  const picture = form.includes('1:v') ? PICTURE : []
  await run(FFMPEG, ['-v', 'error', ...input, ...picture, ...form.split(' ')], { cwd: path })
  return { folder: path, name: /\S+\.m3u8/.exec(form)?.[0] ?? form.split(' ').at(-1) ?? '' }
}

const fromFile = async (_: ExecutionContext, { folder, name }: Made): Promise<Int16Array> =>
  readAudioFile(join(folder, name))

const fromUrl = async (t: ExecutionContext, { folder, name }: Made): Promise<Int16Array> => {
  const source = startRetryingSource(t, (await serve(t, filesOf(folder))).url(name))
  await eventually(() => assert.notDeepEqual(source.ends, []), { timeoutMs: 60_000 })
  t.deepEqual(source.ends, ['completed'])
  return source.samples()
}

const STEP = SAMPLE_RATE / 100

/** The loudness of each 10 ms. */
const loudness = (samples: Int16Array): ReadonlyArray<number> =>
  Array.from({ length: Math.floor(samples.length / STEP) }, (_, step) =>
    Math.hypot(...samples.subarray(step * STEP, (step + 1) * STEP)))

/** Returns by how many seconds a sentence is later than in the speech: where the loudness of both is most alike. */
const lateness = (heard: Int16Array, [from, to]: readonly [number, number]): number => {
  const [expected, found] = [loudness(speech), loudness(heard)]
  const alike = (late: number): number => {
    let sum = 0
    for (let step = from * 100; step < to * 100; step += 1)
      sum -= Math.abs((expected[Math.round(step)] ?? 0) - (found[Math.round(step) + late] ?? 0))
    return sum
  }
  const shifts = Array.from({ length: 201 }, (_, index) => index - 100)
  return shifts.reduce((best, late) => (alike(late) > alike(best) ? late : best), 0) / 100
}

const inTurn = existsSync(FFMPEG) ? test.serial : test.skip
const BOTH = { 'a file': fromFile, 'a URL': fromUrl }

for (const [forms, maxErrors, maxSeconds, begins, ways] of [
  [LOSSLESS, 0, EXACT, 0, BOTH],
  [EDIT_LISTS, 1, EXACT, 0, BOTH],
  [LOSSY, 1, ROUNDED, 0, BOTH],
  [LATER, 1, EXACT, 1, BOTH],
  [ENCRYPTED, 1, ROUNDED, 0, { 'a URL': fromUrl }],
] as const)
  for (const [title, form] of Object.entries(forms))
    for (const [way, read] of Object.entries(ways))
      inTurn(`${title}, from ${way}: the words of the speech, ${begins} s after the beginning`, async (t) => {
        const samples = (await read(t, await make(t, form, begins))).subarray(begins * SAMPLE_RATE)
        const text = textOf(await transcribe(engine, samples))
        const { errors } = alignWords(comparableWords(TEXT), comparableWords(text))
        const late = SENTENCES.map((sentence) => lateness(samples, sentence))
        t.log(`${errors} words differ, ${late.join(' s and ')} s late`)
        if (maxErrors === 0) t.is(text, TEXT)
        t.true(errors <= maxErrors, text)
        t.true(late.every((seconds) => Math.abs(seconds) <= maxSeconds))
      })
