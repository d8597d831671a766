import { createAddressGuard, lookUp } from './address-guard.ts'
import type { Address, AddressGuard, AddressRules } from './address-guard.ts'
import { pullHttp } from './pull-http.ts'
import { pullRtmp } from './pull-rtmp.ts'
import { pullRtsp } from './pull-rtsp.ts'
import { SourceError } from './source-error.ts'
import type { Note, PullKind, SourceSink } from './source-kind.ts'

const KINDS: Readonly<Record<string, PullKind>> = {
  'http:': pullHttp, 'https:': pullHttp, 'rtmp:': pullRtmp, 'rtmps:': pullRtmp, 'rtsp:': pullRtsp, 'rtsps:': pullRtsp,
}

export interface PullOptions {
  readonly url: string
  readonly after: number | null
  readonly rules: AddressRules
  readonly lookup?: (host: string) => Promise<ReadonlyArray<Address>>
  readonly note?: Note
}

/** Is the container made by us, which says at once what it holds? */
export const isStream = (url: string): boolean => /^rt(?:m|s)ps?:/i.test(url)

/** The guard, whose work is told. */
const telling = (rules: AddressRules, lookup: (host: string) => Promise<ReadonlyArray<Address>>, note: Note): AddressGuard => {
  const guard = createAddressGuard(rules, async (host) => {
    const found = await lookup(host)
    note('resolve', `${host} is ${found.map(({ address }) => address).join(', ')}`)
    return found
  })
  return {
    allows: guard.allows,
    resolve: async (host, port) => {
      const found = await guard.resolve(host, port)
      note('check', `${found.map(({ address }) => address).join(', ')} may be contacted`)
      return found
    },
  }
}

/** One attempt at a source of any kind. */
export const pullSource = async ({ url: text, after, rules, lookup = lookUp, note = () => undefined }: PullOptions, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  const url = URL.parse(text)
  const pull = url === null ? undefined : KINDS[url.protocol]
  if (url === null || pull === undefined) throw new SourceError('unsupported')
  await pull({ url, after, note }, sink, telling(rules, lookup, note), signal)
}
