/**
 * Tests that a kind of stores cannot run, by name and with the reason, of suites that run on several kinds. This list is what
 * skips them (`testHere` of skip-unless.ts), and what a run of the suites is held to: nothing else may be skipped, and
 * nothing of this may run.
 */
import { readFileSync } from 'node:fs'
import { EVENTSTORE_FOLDER, isOnServers } from '../stores/chosen-stores.ts'

/** Titles by suite: folder and file without `test/` and ending. */
type Titles = Readonly<Record<string, ReadonlyArray<string>>>

/** What is hurt is a byte or a row of the files of the embedded stores. */
const ONLY_EMBEDDED: Titles = {
  'e2e › service › hurt-data': [
    'a damaged row stops nothing but what needs its stream, wherever it stands, and the stream is named',
    'a key that the keyring never made reads as erased and is named as missing; everybody else goes on',
  ],
  'nightly › crash › damaged-data': [
    'a damaged event that may disable a user or an API token locks out only that user or token',
    'a damaged registration blocks one user, and the service does not start its setup again',
    'a damaged admission row blocks new sessions only',
  ],
}

/**
 * A single call is answered late, wrongly or never, a scavenge comes between two calls, or connections break while the
 * server goes on: no order makes a real one do it.
 */
const ONLY_THE_DOUBLE: Titles = {
  'contract › eventstoredb › resumes': [
    'a subscription resumes from any position, also of a record that a scavenge took, without a loss or a repeat',
    'a scavenge between the look back and the subscription loses nothing',
    'a server that cannot read back at the moment is not taken for one with an older log',
  ],
  'nightly › servers › eventstoredb-failures': [
    ...['no-stream', '1', 'any'].flatMap((expected) =>
      ['unanswered', 'drop', 'hang'].map((kind) => `an append (${expected}) whose answer is lost (${kind}) is unavailable, and its retry stands once`)),
    'an append with any finds its first try behind a restart and the appends of others',
    ...['wrong', 'hang', 'drop'].map((kind) => `reads and appends that are answered wrongly or never (${kind}) are unavailable, then work`),
    'a subscription that is cut off throws, and goes on from the last position without a gap or a repeat [F4]',
    ...['hang', 'wrong', 'drop'].map((kind) => `a subscription that begins with a fault (${kind}) throws`),
  ],
  'nightly › servers › service-on-eventstoredb': [
    'while the log cannot be followed the lag shows it, and once it can be the read models catch up by themselves [F4]',
  ],
}

const suiteOf = (file: string): string => /test\/(.*)\.test\.ts$/.exec(file)?.[1]?.replaceAll('/', ' › ') ?? file

const skippedIn = (suite: string, onServers = isOnServers): ReadonlyArray<string> => [
  ...(onServers ? (ONLY_EMBEDDED[suite] ?? []) : []),
  ...(EVENTSTORE_FOLDER !== undefined ? (ONLY_THE_DOUBLE[suite] ?? []) : []),
]

/** Does the list skip this test of a file on the stores that the environment asks for? */
export const isSkippedHere = (file: string, title: string): boolean => skippedIn(suiteOf(file)).includes(title)

/** A machine may lack what these need. */
const ALLOWED_ANYWHERE = readFileSync('.ci/allowed-skips', 'utf8').split('\n')

/** What the run of a file on servers skipped and should not have, or ran and should not have; `skipped`: titles alone. */
export const wrongSkips = (file: string, skipped: ReadonlyArray<string>): ReadonlyArray<string> => {
  const suite = suiteOf(file)
  const due = skippedIn(suite, true)
  return [
    ...skipped.filter((title) => !due.includes(title) && !ALLOWED_ANYWHERE.includes(`${suite} › ${title}`)).map((title) => `skipped: ${title}`),
    ...due.filter((title) => !skipped.includes(title)).map((title) => `not skipped: ${title}`),
  ]
}
