import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { packageSample, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { startPulling } from '../../support/sources/pulling.ts'

const SECONDS = 7
const INTERVAL = 4096
const TITLE = "StreamTitle='Okapi - Wapiti';"

/** Puts a title, or none, after each interval of sound. */
const withTitles = (sound: Buffer): Buffer => {
  const pieces: Array<Buffer> = []
  for (let at = 0; at < sound.length; at += INTERVAL) {
    const length = at % (3 * INTERVAL) === 0 ? Math.ceil(TITLE.length / 16) : 0
    const title = Buffer.from((length === 0 ? '' : TITLE).padEnd(length * 16, '\0'))
    pieces.push(sound.subarray(at, at + INTERVAL), Buffer.from([length]), title)
  }
  return Buffer.concat(pieces)
}

withFfmpeg('a station from a list that answers ICY, with titles in its sound, is heard to its end', async (t) => {
  const sound = await readFile(join(await packageSample(t, 'mp3', SECONDS), 'audio.mp3'))
  const radio = createServer((socket) => {
    socket.on('error', () => undefined)
    const head = `ICY 200 OK\r\ncontent-type: audio/mpeg\r\nicy-metaint: ${INTERVAL}\r\n\r\n`
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), withTitles(sound)])))
  })
  await new Promise<void>((resolve) => radio.listen(0, '127.0.0.1', resolve))
  t.teardown(() => radio.close())
  const { port } = radio.address() as AddressInfo
  const server = await serve(t, (request, response) => {
    if (request.url === '/radio.pls') response.end(`[playlist]\nFile1=/gone\nFile2=http://127.0.0.1:${port}/\n`)
    else response.writeHead(404).end()
  })
  const pulling = startPulling(t)
  // The first entry is gone, and the station never announces its end.
  t.deepEqual(await pulling.pull({ url: server.url('radio.pls') }), {
    kind: 'failed', code: 'http_404', retry: true, isPublic: false,
  })
  t.true(Math.abs(pulling.seconds() - SECONDS) < 0.2, `${pulling.seconds()} s`)
})
