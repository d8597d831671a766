import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkLog } from '../../../application/audit/check-log.ts'
import { skipDamaged } from '../../../application/log/skip-damaged.ts'
import type { DamagedRow } from '../../../application/log/skip-damaged.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { readCoverage, walkChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { verifyFile } from '../../../infrastructure/sqlite/verify-files.ts'
import { verifyKeys } from '../../../infrastructure/keys/verify-keys.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { differencesFromLog } from '../../../projections/compare-with-log.ts'
import type { ComparedWithLog } from '../../../projections/compare-with-log.ts'
import type { Difference } from '../../../projections/fold-log.ts'
import type { Projection } from '../../../projections/projection.ts'
import { dataFiles, embeddedFiles } from '../data-files.ts'
import type { DataFiles } from '../data-files.ts'
import { isServiceRunning, withData } from './tool-data.ts'
import type { ToolData } from './tool-data.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { CHECK } from '../commands/stores.ts'
import { countEvents } from './count-events.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

interface Problem {
  readonly where: string
  readonly problem: string
}

interface Result {
  readonly name: string
  /** Describes the checked data, such as `120 events`. */
  readonly seen: string
  readonly problems: ReadonlyArray<Problem>
}

type Outcome = Omit<Result, 'name'>

/** Runs a check. A check that fails to run counts as a problem. */
const attempt = async (name: string, run: () => Promise<Outcome>): Promise<Result> => {
  try {
    return { name, ...(await run()) }
  } catch (error) {
    return { name, seen: '', problems: [{ where: name, problem: `cannot be checked: ${messageOf(error)}` }] }
  }
}

const checkFiles = async (settings: Settings, data: DataFiles): Promise<Outcome> => {
  const files = embeddedFiles(settings, data)
  const problems = files.flatMap((where) => verifyFile(where).map((problem) => ({ where, problem })))
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
    const { events, problems } = await withData(settings, ({ store, keyring, keyRows }) =>
      checkLog({ store: countEvents(store, 'events', status), keyring, keyNames: () => namesOf(keyRows()), now }))
    const problemsOf = (name: string): ReadonlyArray<Problem> => problems.filter(({ check }) => check === name)
    return LOG_CHECKS.map((name) => ({ name, seen: `${events} events`, problems: problemsOf(name) }))
  } catch (error) {
    const problem = `cannot be checked: ${messageOf(error)}`
    return LOG_CHECKS.map((name) => ({ name, seen: '', problems: [{ where: name, problem }] }))
  }
}

const DIFFERENCE_TEXTS: Readonly<Record<Difference['kind'], string>> = {
  differs: 'does not agree with the log',
  missing: 'is missing',
  surplus: 'should not exist',
  unreadable: 'cannot be read',
  misguarded: 'has a position that does not match its content',
}

interface UncertainDocuments {
  readonly row: DamagedRow
  /** Documents that the other events of the stream change. The damaged row probably changed the same documents. */
  readonly ids: ReadonlySet<string>
}

const uncertainDocuments = async (
  store: Pick<EventStore, 'subscribe'>,
  { touches }: Projection,
  damaged: ReadonlyArray<DamagedRow>,
): Promise<ReadonlyArray<UncertainDocuments>> => {
  const found: Array<UncertainDocuments> = []
  for (const row of new Map(damaged.map((damagedRow) => [damagedRow.position, damagedRow])).values()) {
    const ids = new Set<string>()
    const stopping = new AbortController()
    for await (const message of skipDamaged(store.subscribe)(BEGINNING, [row.stream], stopping.signal)) {
      if (message.kind === 'caught-up') stopping.abort()
      if (message.kind === 'event' && message.event.stream === row.stream)
        for (const id of touches(message.event)) ids.add(id)
    }
    found.push({ row, ids })
  }
  return found
}

/** Compares a read model with the log. Documents that depend on damaged rows are reported as not comparable. */
const compareModel = async (compared: ComparedWithLog, projection: Projection): Promise<ReadonlyArray<Problem>> => {
  const { collection } = projection
  const damaged: Array<DamagedRow> = []
  const store = { ...compared.store, subscribe: skipDamaged(compared.store.subscribe, (row) => damaged.push(row)) }
  const found = await differencesFromLog({ ...compared, store }, projection)
  const uncertain = await uncertainDocuments(compared.store, projection, damaged)
  const certain = found.filter(({ id }) => uncertain.every(({ ids }) => !ids.has(id)))
  return [
    ...certain.map(({ id, kind }) => ({ where: `${collection.name} ${id}`, problem: DIFFERENCE_TEXTS[kind] })),
    ...uncertain.map(({ ids, row: { position, stream } }) => ({
      where: `${collection.name} ${[...ids].join(', ')}`.trimEnd(),
      problem: `${ids.size > 0 ? 'cannot be compared' : 'may be incomplete'}: position ${position} (${stream}) is `
        + `damaged`,
    })),
  ]
}

const checkModels = async (settings: Settings, status: StatusLine): Promise<Outcome> => {
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-check-'))
  const scratch = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
  try {
    const problems = await withData(settings, async ({ store, documents }) => {
      const found: Array<Problem> = []
      for (const projection of allProjections)
        try {
          const counting = countEvents(store, `read model ${projection.name}`, status)
          found.push(...(await compareModel({ store: counting, documents, scratch }, projection)))
        } catch (error) {
          found.push({ where: projection.name, problem: `cannot be checked: ${messageOf(error)}` })
        }
      return found
    })
    return { seen: allProjections.map(({ name }) => name).join(', '), problems }
  } finally {
    await scratch.close()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs all checks, in the order of the help. */
const checkAll = async (settings: Settings, status: StatusLine): Promise<ReadonlyArray<Result>> => {
  const files = dataFiles(settings)
  const shown = (name: string, run: () => Promise<Outcome>): Promise<Result> => {
    status.show(name)
    return attempt(name, run)
  }
  return [
    await shown('files', () => checkFiles(settings, files)),
    await shown('hash chain', () => checkChain(settings, files, status)),
    await shown('keys', () => checkKeys(settings, files)),
    ...(await checkEvents(settings, isServiceRunning(settings.dataDir) ? Date.now() : null, status)),
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
