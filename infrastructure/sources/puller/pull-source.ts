import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address, type AddressGuard, type AddressRules, createAddressGuard, lookUp,
} from '../network/address-guard.ts'
import { pullHttp } from '../http/pull-http.ts'
import { pullRtmp } from '../rtmp/pull-rtmp.ts'
import { pullRtsp } from '../rtsp/pull-rtsp.ts'
import { SourceError, type SourceErrorCode, sourceErrorOf } from '../source-error.ts'
import type { Note, PullKind, SourceSink } from '../source-kind.ts'

const KINDS: Readonly<Record<string, PullKind>> = {
  'http:': pullHttp, 'https:': pullHttp, 'rtmp:': pullRtmp, 'rtmps:': pullRtmp, 'rtsp:': pullRtsp, 'rtsps:': pullRtsp,
}

export interface PullOptions {
  readonly url: string
  readonly after: number | null
  readonly language?: string | null
  readonly rules: AddressRules
  readonly lookup?: (host: string) => Promise<ReadonlyArray<Address>>
  readonly note?: Note
  /** Called before a contact with an address that only an exception of the operator allows. */
  readonly onPrivate?: () => void
  /** The source delivered audio and then broke off without an announced end, so its server may be restarting. */
  readonly brokeOff?: boolean
}

/** True for RTMP and RTSP, which deliver audio without a file format. */
export const isStream = (url: string): boolean => /^rt(?:m|s)ps?:/i.test(url)

/** Creates the guard and reports its results. */
const reportingGuard = (
  { rules, lookup = lookUp, onPrivate = () => undefined }: PullOptions,
  note: Note,
): AddressGuard => {
  const guard = createAddressGuard(rules, async (host) => {
    const found = await lookup(host)
    note('resolve', `${host} is ${found.map(({ address }) => address).join(', ')}`)
    return found
  })
  return {
    ...guard,
    resolve: async (host, port) => {
      const found = await guard.resolve(host, port)
      if (!found.every(({ address }) => guard.isPublic(address))) onPrivate()
      note('check', `${found.map(({ address }) => address).join(', ')} is allowed`)
      return found
    },
  }
}

/** Intervals are short, because audio between the restart of the server and the next try is lost. */
const RECONNECT_EVERY_MS = 500
const RECONNECT_FOR_MS = 6000
/** Codes of a server that is starting, or that does not have the stream yet. */
const NOT_READY_CODES: ReadonlySet<string> = new Set<SourceErrorCode>(['unreachable', 'refused', 'rtsp_404'])

/** Retries `pull` while the server is not ready, for at most RECONNECT_FOR_MS. */
const reconnecting = async (pull: () => Promise<void>, signal: AbortSignal): Promise<void> => {
  const until = performance.now() + RECONNECT_FOR_MS
  for (;;) {
    try {
      return await pull()
    } catch (error) {
      if (!NOT_READY_CODES.has(sourceErrorOf(error).code) || performance.now() >= until) throw error
      await delay(RECONNECT_EVERY_MS, undefined, { signal })
    }
  }
}

/** Pulls a source of any kind until it ends. After a break of RTMP or RTSP it first waits until the server is ready. */
export const pullSource = async (options: PullOptions, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  const { url: text, after, language = null, note = () => undefined, brokeOff = false } = options
  const url = URL.parse(text)
  const kind = url === null ? undefined : KINDS[url.protocol]
  if (url === null || kind === undefined) throw new SourceError('unsupported')
  const pull = (): Promise<void> => kind({ url, after, language, note }, sink, reportingGuard(options, note), signal)
  await (brokeOff && isStream(text) ? reconnecting(pull, signal) : pull())
}
