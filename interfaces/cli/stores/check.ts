import { checkLog } from '../../../application/audit/check-log.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { verifyKeys } from '../../../infrastructure/keys/verify-keys.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { readCoverage, walkChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { foreignObjects } from '../../../infrastructure/sqlite/foreign-objects.ts'
import { verifyFile } from '../../../infrastructure/sqlite/verify-files.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { REBUILDS } from '../../../projections/rebuild/rebuild-notes.ts'
import { type DataFiles, dataFiles, embeddedFiles } from '../data-files.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { CHECK } from '../commands/stores.ts'
import { type StatusLine, withStatus } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'
import { checkModels } from './check-models.ts'
import { countEvents } from './count-events.ts'
import type { Outcome, Problem } from './outcome.ts'
import { type ToolData, withData } from './tool-data.ts'

interface Result extends Outcome {
  readonly name: string
}

/** Runs a check. A check that fails to run counts as a problem. */
const attempt = async (name: string, run: () => Promise<Outcome>): Promise<Result> => {
  try {
    return { name, ...(await run()) }
  } catch (error) {
    return { name, seen: '', problems: [{ where: name, problem: `cannot be checked: ${messageOf(error)}` }] }
  }
}

/** Tables of collections, also of earlier versions and of unfinished rebuilds, which have a number or a suffix. */
const COLLECTIONS = [REBUILDS, ...allProjections.map(({ collection }) => collection)]
  .map(({ name }) => name.replace(/-\d+$/, ''))
  .join('|')

const ownTables = ({ events, keyring }: DataFiles, file: string): RegExp => {
  if (file === events) return /^(streams|events|coverage)$/
  if (file === keyring) return /^(keys|erased)$/
  return new RegExp(`^(checkpoints|documents_(${COLLECTIONS})(-\\d+)?(-staged|-rebuild)?)$`)
}

const checkFiles = async (settings: Settings, data: DataFiles): Promise<Outcome> => {
  const files = embeddedFiles(settings, data)
  const problems = files.flatMap((where) => {
    const damages = verifyFile(where)
    // The schema of a damaged file may be unreadable.
    const foreign = damages.length > 0 ? [] : foreignObjects(where, ownTables(data, where))
    return [...damages, ...foreign.map((name) => `contains the ${name}, which the service did not create`)]
      .map((problem) => ({ where, problem }))
  })
  return { seen: `${files.length} databases`, problems }
}

/** Describes from which position on the rows have stream digests. Older versions wrote rows without digests. */
const coverageOf = (events: string): string => {
  const since = readCoverage(events)
  if (since === null) return '; stream digests begin with the next start of the service'
  return since === 0 ? '' : `; stream digests begin at position ${since}`
}

const checkChain = async ({ eventstoreUrl }: Settings, { events }: DataFiles, status: StatusLine): Promise<Outcome> => {
  if (eventstoreUrl !== null) return { seen: 'none: EventStoreDB has no hash chain', problems: [] }
  const problems: Array<Problem> = []
  const walk = walkChain(events, (rows) => status.show('hash chain', `${rows} rows`))
  for (;;) {
    const step = await walk.next()
    if (step.done === true) return { seen: `${step.value} rows${coverageOf(events)}`, problems }
    problems.push({ where: `position ${step.value.position}`, problem: step.value.reason })
  }
}

const checkKeys = async (settings: Settings, { masterKey }: DataFiles): Promise<Outcome> => {
  const { keys, problems } = await withData(settings, async ({ keyRows }) =>
    verifyKeys(keyRows(), await loadMasterKey(masterKey)))
  return { seen: `${keys} keys`, problems: problems.map(({ name, problem }) => ({ where: `key ${name}`, problem })) }
}

const LOG_CHECKS = ['decoding', 'order', 'reservations', 'erasure'] as const

async function* namesOf(rows: ReturnType<ToolData['keyRows']>): AsyncGenerator<string> {
  for await (const { name } of rows) yield name
}

/** `now`: milliseconds since 1970 if a service runs, because its latest changes may be incomplete; otherwise null. */
const checkEvents = async (
  settings: Settings,
  now: number | null,
  status: StatusLine,
): Promise<ReadonlyArray<Result>> => {
  try {
    const { retentionMax } = settings
    const { events, problems } = await withData(settings, ({ store, keyring, keyRows, erasedNames, shortened }) =>
      checkLog({
        store: countEvents(store, 'events', status), keyring, keyNames: () => namesOf(keyRows()), erasedNames,
        shortened, retentionMax, now,
      }))
    const problemsOf = (name: string): ReadonlyArray<Problem> => problems.filter(({ check }) => check === name)
    return LOG_CHECKS.map((name) => ({ name, seen: `${events} events`, problems: problemsOf(name) }))
  } catch (error) {
    const problem = `cannot be checked: ${messageOf(error)}`
    return LOG_CHECKS.map((name) => ({ name, seen: '', problems: [{ where: name, problem }] }))
  }
}

/** Runs all checks, in the order of the help. */
export const checkAll = async (settings: Settings, status: StatusLine): Promise<ReadonlyArray<Result>> => {
  const files = dataFiles(settings)
  const shown = (name: string, run: () => Promise<Outcome>): Promise<Result> => {
    status.show(name)
    return attempt(name, run)
  }
  return [
    await shown('files', () => checkFiles(settings, files)),
    await shown('hash chain', () => checkChain(settings, files, status)),
    await shown('keys', () => checkKeys(settings, files)),
    ...(await checkEvents(settings, isDataDirectoryInUse(settings.dataDir) ? Date.now() : null, status)),
    await shown('read models', () => checkModels(settings, status)),
  ]
}

/** Runs `stenolog check`. Resolves to the exit code: 1 when a check finds a problem. */
export const check = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options: values } = readArguments(CHECK, args)
  const checks = await withStatus((status) => checkAll(toolSettings(), status))
  const ok = checks.every(({ problems }) => problems.length === 0)
  if (values.json) console.log(JSON.stringify({ ok, checks }))
  else
    for (const { name, seen, problems } of checks) {
      console.log(`${name.padEnd(14)}${problems.length === 0 ? `ok     ${seen}` : 'WRONG'}`)
      for (const { where, problem } of problems) console.log(`  ${where}: ${problem}`)
    }
  return ok ? 0 : 1
}
