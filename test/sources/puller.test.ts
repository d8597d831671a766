import { filesOf, packageSample, serve, withFfmpeg } from '../support/audio-server.ts'
import type { Packaging } from '../support/audio-server.ts'
import { startPulling } from '../support/pulling.ts'

const SECONDS = 7
const COMPLETE = { kind: 'complete' } as const

const kinds: ReadonlyArray<readonly [Packaging, string]> = [
  ['ts', 'index.m3u8'], ['fmp4', 'index.m3u8'], ['aes', 'index.m3u8'], ['mp3', 'audio.mp3'], ['m4a', 'audio.m4a'],
]

for (const [packaging, file] of kinds)
  withFfmpeg(`${packaging}: all of it is heard, then the source is over`, async (t) => {
    const server = await serve(t, filesOf(await packageSample(t, packaging, SECONDS)))
    const pulling = startPulling(t)
    t.deepEqual(await pulling.pull({ url: server.url(file) }), COMPLETE)
    t.true(Math.abs(pulling.seconds() - SECONDS) < 0.2, `${pulling.seconds()} s`)
    t.is(pulling.heard.at(-1), file === 'index.m3u8' ? 3 : undefined)
  })
