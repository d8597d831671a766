/**
 * Lists the tests that one kind of stores cannot run, with the reason. Their suites run on several kinds of stores.
 * `testOnChosenStores` (skip-unless.ts) skips the listed tests. test/nightly/servers/suites-on-servers.test.ts fails
 * when another test is skipped or when a listed test runs.
 */
import { readFileSync } from 'node:fs'
import { EVENTSTORE_FOLDER, isOnServers } from '../stores/chosen-stores.ts'

/** Titles by suite: the path of the file without `test/` and without its extension. */
type Titles = Readonly<Record<string, ReadonlyArray<string>>>

/** These tests damage or block the files of the embedded stores. */
const ONLY_EMBEDDED: Titles = {
  'nightly › crash › damage-in-parts': [
    'a damaged row blocks only writes to its stream, and the stream is reported',
    'a lost key makes its user’s data read as erased and is reported as missing; other users are unaffected',
  ],
  'e2e › service › sessions › first-build': [
    'while the lists are first built they say how far they are, and all else works',
  ],
  'e2e › service › sockets › unlisted-sessions': [
    'new sessions, users, logins and API tokens work at once while no list changes',
  ],
  'nightly › crash › damaged-data': [
    'a damaged event that may disable a user or an API token locks out only that user or token',
    'a damaged registration blocks one user, and the service does not start its setup again',
    'a damaged admission row blocks new sessions only',
  ],
}

/**
 * In these tests a single call is answered late, wrongly or never, a scavenge runs between two calls, or connections
 * break while the server runs. A test cannot make a real server do this.
 */
const ONLY_THE_DOUBLE: Titles = {
  'contract › eventstoredb › resumes': [
    'a subscription resumes from any position, also of a scavenged record, without a loss or repeat',
    'a scavenge between the backward read and the subscription loses nothing',
    'a server that cannot read backwards at the moment is not mistaken for an older log',
  ],
  'nightly › servers › eventstoredb-failures': [
    ...['no-stream', '1', 'any'].flatMap((expected) =>
      ['unanswered', 'drop', 'hang'].map((kind) =>
        `an append (${expected}) with a lost answer (${kind}) is unavailable, and its retry is stored once`)),
    'a retry that expects any revision finds its first attempt after a restart and other appends',
    ...['wrong', 'hang', 'drop'].map((kind) =>
      `reads and appends with a wrong or missing answer (${kind}) are unavailable, then work`),
  ],
  'nightly › servers › eventstoredb-subscription-failures': [
    'a disconnected subscription throws, and resumes without a gap or a repeat',
    ...['hang', 'wrong', 'drop'].map((kind) => `a subscription that starts with a fault (${kind}) throws`),
  ],
  'nightly › servers › service-on-eventstoredb': [
    'broken subscriptions show as lag, and the read models catch up afterwards',
  ],
}

const suiteOf = (file: string): string => /test\/(.*)\.test\.ts$/.exec(file)?.[1]?.replaceAll('/', ' › ') ?? file

const skippedIn = (suite: string, onServers = isOnServers): ReadonlyArray<string> => [
  ...(onServers ? (ONLY_EMBEDDED[suite] ?? []) : []),
  ...(EVENTSTORE_FOLDER !== undefined ? (ONLY_THE_DOUBLE[suite] ?? []) : []),
]

/** Returns whether the list skips this test on the stores that the environment selects. */
export const isSkippedHere = (file: string, title: string): boolean => skippedIn(suiteOf(file)).includes(title)

/** Tests that need files or programs that a machine may lack. */
const ALLOWED_ANYWHERE = readFileSync('.ci/allowed-skips', 'utf8').split('\n')

/** Compares the skipped titles of a file on servers with the list. Returns the differences. */
export const wrongSkips = (file: string, skipped: ReadonlyArray<string>): ReadonlyArray<string> => {
  const suite = suiteOf(file)
  const listed = skippedIn(suite, true)
  const isAllowed = (title: string): boolean =>
    listed.includes(title) || ALLOWED_ANYWHERE.includes(`${suite} › ${title}`)
  return [
    ...skipped.filter((title) => !isAllowed(title)).map((title) => `skipped: ${title}`),
    ...listed.filter((title) => !skipped.includes(title)).map((title) => `not skipped: ${title}`),
  ]
}
