import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readAudioFile } from '../../../../../interfaces/cli/streaming/audio-file.ts'
import { wavOf } from '../../../../support/audio/wav.ts'
import { matroskaOf } from '../../../../support/sources/matroska.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const RATE = 16_000

const level = (value: number, seconds: number): Buffer =>
  Buffer.from(new Int16Array(seconds * RATE).fill(value).buffer)

const fileOf = async (t: ExecutionContext, name: string, bytes: Buffer): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await writeFile(join(path, name), bytes)
  return join(path, name)
}

/** Returns where each run of equal samples begins, in seconds, and its level. */
const runs = (samples: Int16Array): ReadonlyArray<readonly [number, number]> =>
  [...samples].flatMap((value, at) => (value === samples[at - 1] ? [] : [[at / RATE, value] as const]))

test('a FLAC file is read as 16 kHz mono', async (t) => {
  const samples = await readAudioFile('interfaces/cli/streaming/demo/sample.flac')
  t.is(Math.round(samples.length / 16000), 55)
  t.true(samples.some((sample) => Math.abs(sample) > 10_000))
})

test('an unreadable or missing file is named in the error', async (t) => {
  await t.throwsAsync(readAudioFile('package.json'), { message: /cannot read package\.json as audio/ })
  await t.throwsAsync(readAudioFile('no-such-file.wav'), { message: 'There is no file no-such-file.wav.' })
})

test('audio that begins later than its file begins after silence, and a hole is silence', async (t) => {
  const file = await fileOf(t, 'holes.mkv', matroskaOf([{}], [
    { at: 5, bytes: level(1000, 2) }, { at: 17, bytes: level(2000, 2) }, { at: 19, bytes: level(3000, 1) },
  ]))
  t.deepEqual(runs(await readAudioFile(file)), [[0, 0], [5, 1000], [7, 0], [17, 2000], [19, 3000]])
})

test('a file without audio is an error, and damage is told with its time in the file', async (t) => {
  const empty = await fileOf(t, 'header-only.wav', wavOf(new Int16Array(0), RATE))
  await t.throwsAsync(readAudioFile(empty), { message: `There is no audio in ${empty}.` })
  const damaged = await fileOf(t, 'damaged.mkv', matroskaOf([{}], [
    { at: 1, bytes: level(1000, 1) }, { at: 2, bytes: Buffer.from([7]) }, { at: 3, bytes: level(2000, 1) },
  ]))
  const damages: Array<number> = []
  t.deepEqual(runs(await readAudioFile(damaged, { damaged: (seconds) => damages.push(seconds) })),
    [[0, 0], [1, 1000], [2, 0], [3, 2000]])
  t.deepEqual(damages, [2])
})

test('names that FFmpeg would read as addresses or patterns are names of files', async (t) => {
  for (const name of ['2024-11-14T22:57:44.wav', 'concat:a.wav', '%03d.wav', 'a|b, c.wav'])
    t.is((await readAudioFile(await fileOf(t, name, wavOf(new Int16Array(RATE).fill(5), RATE)))).length, RATE, name)
})
