import { readFileSync } from 'node:fs'
import test from 'ava'
import { SourceError, type SourceErrorCode } from '../../../../infrastructure/sources/source-error.ts'
import { IGNORING_SINK } from '../../../support/sources/pulling.ts'
import { pullSource } from '../../../../infrastructure/sources/puller/pull-source.ts'

type Status = `http_${number}` | `rtsp_${number}`
/** Every cause, and what follows it. After an `end` the session finishes, so nobody sees the cause. */
const CAUSES: Readonly<Record<Exclude<SourceErrorCode, Status> | 'http_401' | 'rtsp_404', 'again' | 'once' | 'end'>> = {
  address_forbidden: 'once', scheme_forbidden: 'once', encrypted: 'once', unsupported: 'once',
  unsupported_transport: 'once', too_large: 'once', no_audio: 'once', no_index: 'once', not_isolated: 'once',
  unresolved: 'again', unreachable: 'again', timeout: 'again', tls: 'again', closed: 'again', refused: 'again',
  too_many_redirects: 'again', bad_playlist: 'again', bad_answer: 'again', not_audio: 'again', http_401: 'again',
  rtsp_404: 'again', stream_over: 'end', closed_after_audio: 'end',
}

test('a cause that no retry can mend ends at once, all others are tried again, and the guide explains each', (t) => {
  const guide = readFileSync('docs/guides/url-sources.md', 'utf8')
  for (const [code, next] of Object.entries(CAUSES)) {
    t.is(new SourceError(code as SourceErrorCode).retry, next !== 'once', code)
    if (next !== 'end') t.regex(guide, new RegExp(`^\\|.*\`${code}\`.*\\|$`, 'm'), `the guide explains ${code}`)
  }
})

test('a pull reports whether it contacts an address that is not on the public internet', async (t) => {
  const contactOf = async (host: string, address: string): Promise<ReadonlyArray<string>> => {
    const seen: Array<string> = []
    const stop = new AbortController()
    const options = {
      url: `rtmp://${host}/live/x`, after: null, rules: { allow: ['192.168.7.0/24'], ownPort: null },
      lookup: async () => [{ address, family: 4 }],
      onPrivate: () => seen.push('private'),
      // Nothing is contacted: the pull stops once the address is checked.
      note: (step: string) => {
        seen.push(step)
        if (step === 'check') stop.abort()
      },
    }
    await pullSource(options, IGNORING_SINK, stop.signal).catch(() => undefined)
    return seen
  }
  t.deepEqual(await contactOf('radio.example', '93.184.216.34'), ['resolve', 'check'])
  t.deepEqual(await contactOf('camera.example', '192.168.7.9'), ['resolve', 'private', 'check'])
  t.deepEqual(await contactOf('192.168.7.9', ''), ['private', 'check'])
})
