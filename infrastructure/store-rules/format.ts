import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Number of the storage format, stored as a mark in each store; a store without a mark has format 1. Increase it when
 * older versions cannot read the new tables, documents, event types or envelopes, or would damage them.
 * Format 2: digests of the streams in the embedded log. Format 3: several workers, and sessions with terms (periods in
 * which one worker leads). Format 4: the vocabulary of a session changes while it runs. Format 5: a restore skips ids
 * and ends the logins of the replaced log. Format 6: a restarted worker keeps its sessions with one event.
 */
export const FORMAT = 6

/** `1.2.3` as 1002003, so versions compare as numbers. */
const releaseOf = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1000 + minor) * 1000 + patch
}

const PACKAGE = join(import.meta.dirname, '..', '..', 'package.json')

export const { version: VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }

/** This version as a number. Each store keeps the newest version that wrote to it, so error messages can name it. */
export const RELEASE = releaseOf(VERSION)

const versionOf = (release: number): string =>
  [Math.floor(release / 1e6), Math.floor(release / 1000) % 1000, release % 1000].join('.')

/**
 * Returns an error message when a store is too new for this version, otherwise null. `store`: its name in the message.
 * `release`: the newest version that wrote to the store, if known.
 */
export const formatProblem = (store: string, mark: unknown, release?: unknown): string | null => {
  if (mark === undefined || (typeof mark === 'number' && mark <= FORMAT)) return null
  const newer = typeof release === 'number' && release > RELEASE ? versionOf(release) : null
  const use = newer === null ? 'use that version' : `use version ${newer} or a later version`
  const formats = `(format ${JSON.stringify(mark)}; this version reads formats up to ${FORMAT})`
  return `${store} was written by a newer version of Stenolog ${formats}: ${use}, or restore a backup that this `
    + 'version can read'
}
