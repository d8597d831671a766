import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Raised whenever an older version could not use what a newer one writes: other tables, other documents, events of a
 * new type, or other envelopes; or could use it, but would leave it in a state that the newer one takes for damage, as
 * the digests of streams in the embedded log (format 2). Format 3: workers join, and lives have terms. Format 4:
 * what speakers are likely to say changes while a live runs. Each store carries it as a mark of its own; one without a
 * mark is of format 1.
 */
export const FORMAT = 4

/** `1.2.3` as 1002003: a number that compares as versions do. */
const releaseOf = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1000 + minor) * 1000 + patch
}

const PACKAGE = join(import.meta.dirname, '..', '..', 'package.json')

export const { version: VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }

/**
 * This version as such a number. It stands beside the mark as the newest one that has written to the store, so that a
 * version that must not use it can name the one that may.
 */
export const RELEASE = releaseOf(VERSION)

const versionOf = (release: number): string =>
  [Math.floor(release / 1e6), Math.floor(release / 1000) % 1000, release % 1000].join('.')

/**
 * Why this version must not use a store with such a mark, in words for people; null where it may. `release` is that of
 * the newest version that has written to it, where it is known.
 */
export const formatProblem = (what: string, mark: unknown, release?: unknown): string | null => {
  if (mark === undefined || (typeof mark === 'number' && mark <= FORMAT)) return null
  const newer = typeof release === 'number' && release > RELEASE ? versionOf(release) : null
  const use = newer === null ? 'use that version' : `use version ${newer} or a later one`
  const formats = `(format ${JSON.stringify(mark)}, this version knows ${FORMAT})`
  return `${what} was written by a newer version of Stenolog ${formats}: ${use}, or restore a backup of this one`
}
