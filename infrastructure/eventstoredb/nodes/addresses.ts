import { lookup } from 'node:dns/promises'
import type { Address } from '../connection.ts'
import { within } from '../patience.ts'

export const textOf = ({ host, port }: Address): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Each once. */
export const unique = (addresses: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const texts = addresses.map(textOf)
  return addresses.filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
}

/** All numbers of a name. Rejects where there is none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>

/** As the system resolves names, its hosts file included; a name service that is silent must not hold a search up. */
export const resolveWithin = (limitMs: number): Resolve => async (name) => {
  const found = await within(limitMs, lookup(name, { all: true }))
  return found.map(({ address }) => address)
}
