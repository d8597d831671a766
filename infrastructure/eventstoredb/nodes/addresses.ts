import { lookup } from 'node:dns/promises'
import type { Address } from '../connection.ts'
import { withTimeout } from '../call-timeouts.ts'

export const textOf = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Removes duplicates. */
export const unique = (addresses: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const texts = addresses.map(textOf)
  return addresses.filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
}

/** Resolves a DNS name to all its IP addresses. Rejects for an unknown name. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>

/** Resolves names as the system does, including its hosts file. The limit keeps a silent DNS from blocking a search. */
export const resolveWithin = (limitMs: number): Resolve => async (name) => {
  const found = await withTimeout(limitMs, lookup(name, { all: true }))
  return found.map(({ address }) => address)
}
