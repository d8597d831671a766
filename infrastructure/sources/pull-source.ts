import { createAddressGuard } from './address-guard.ts'
import type { Address, AddressRules } from './address-guard.ts'
import { pullHttp } from './pull-http.ts'
import { SourceError } from './source-error.ts'
import type { PullKind, SourceSink } from './source-kind.ts'

const KINDS: Readonly<Record<string, PullKind>> = { 'http:': pullHttp, 'https:': pullHttp }

export interface PullOptions {
  readonly url: string
  readonly after: number | null
  readonly rules: AddressRules
  readonly lookup?: (host: string) => Promise<ReadonlyArray<Address>>
}

/** One attempt at a source of any kind. */
export const pullSource = async ({ url: text, after, rules, lookup }: PullOptions, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  const url = URL.parse(text)
  const pull = url === null ? undefined : KINDS[url.protocol]
  if (url === null || pull === undefined) throw new SourceError('unsupported')
  await pull({ url, after }, sink, createAddressGuard(rules, lookup), signal)
}
