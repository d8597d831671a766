import { setTimeout as delay } from 'node:timers/promises'
import { createAddressGuard, lookUp } from '../network/address-guard.ts'
import type { Address, AddressGuard, AddressRules } from '../network/address-guard.ts'
import { pullHttp } from '../http/pull-http.ts'
import { pullRtmp } from '../rtmp/pull-rtmp.ts'
import { pullRtsp } from '../rtsp/pull-rtsp.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { SourceErrorCode } from '../source-error.ts'
import type { Note, PullKind, SourceSink } from '../source-kind.ts'

const KINDS: Readonly<Record<string, PullKind>> = {
  'http:': pullHttp, 'https:': pullHttp, 'rtmp:': pullRtmp, 'rtmps:': pullRtmp, 'rtsp:': pullRtsp, 'rtsps:': pullRtsp,
}

export interface PullOptions {
  readonly url: string
  readonly after: number | null
  readonly rules: AddressRules
  readonly lookup?: (host: string) => Promise<ReadonlyArray<Address>>
  readonly note?: Note
  /** It played before and broke off without a word: its server may be starting again. */
  readonly brokeOff?: boolean
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

/** A stream that broke off is asked for again and again within an attempt: what its server sends meanwhile is lost. */
const KNOCK_EVERY = 500
const KNOCK_FOR = 6000
/** The server is not there yet, or it does not have the stream yet. */
const NOT_YET: ReadonlySet<string> = new Set<SourceErrorCode>(['unreachable', 'refused', 'rtsp_404'])

/** Runs `pull` until it comes to something, or for KNOCK_FOR. */
const knocking = async (pull: () => Promise<void>, signal: AbortSignal): Promise<void> => {
  const until = performance.now() + KNOCK_FOR
  for (;;) {
    try {
      return await pull()
    } catch (error) {
      if (!NOT_YET.has(sourceErrorOf(error).code) || performance.now() >= until) throw error
      await delay(KNOCK_EVERY, undefined, { signal })
    }
  }
}

/** One attempt at a source of any kind. */
export const pullSource = async (options: PullOptions, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  const { url: text, after, rules, lookup = lookUp, note = () => undefined, brokeOff = false } = options
  const url = URL.parse(text)
  const kind = url === null ? undefined : KINDS[url.protocol]
  if (url === null || kind === undefined) throw new SourceError('unsupported')
  const pull = (): Promise<void> => kind({ url, after, note }, sink, telling(rules, lookup, note), signal)
  await (brokeOff && isStream(text) ? knocking(pull, signal) : pull())
}
