import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkLog } from '../../../application/audit/check-log.ts'
import { passingOver } from '../../../application/log/passing-over.ts'
import type { DamagedRow } from '../../../application/log/passing-over.ts'
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
import { dataFiles, embeddedFiles, isServiceRunning, withData } from './tool-data.ts'
import type { DataFiles, ToolData } from './tool-data.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { CHECK } from '../commands/stores.ts'
import { counted } from './counted.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

interface Problem {
  readonly where: string
  readonly problem: string
}

interface Result {
  readonly name: string
  /** What was looked at, for people. */
  readonly seen: string
  readonly problems: ReadonlyArray<Problem>
}

/** A check that cannot be made is a problem too. */
const attempt = async (name: string, run: () => Promise<Omit<Result, 'name'>>): Promise<Result> => {
  try {
    return { name, ...(await run()) }
  } catch (error) {
    return { name, seen: '', problems: [{ where: name, problem: `cannot be checked: ${messageOf(error)}` }] }
  }
}

const checkFiles = async (settings: Settings, data: DataFiles): Promise<Omit<Result, 'name'>> => {
  const files = embeddedFiles(settings, data)
  return { seen: `${files.length} databases`, problems: files.flatMap((where) => verifyFile(where).map((problem) => ({ where, problem }))) }
}

/** What a version wrote that kept no digests of streams cannot be proven. */
const coverageOf = (events: string): string => {
  const since = readCoverage(events)
  if (since === null) return '; which events of a stream are read is covered from the next start of the service on'
  return since === 0 ? '' : `; which events of a stream are read is covered since position ${since}`
}

const checkChain = async ({ eventstoreUrl }: Settings, { events }: DataFiles, status: StatusLine): Promise<Omit<Result, 'name'>> => {
  if (eventstoreUrl !== null) return { seen: 'none: EventStoreDB keeps no hash chain', problems: [] }
  const problems: Array<Problem> = []
  const walk = walkChain(events, (rows) => status.show('hash chain', `${rows} rows`))
  for (;;) {
    const step = await walk.next()
    if (step.done === true) return { seen: `${step.value} rows${coverageOf(events)}`, problems }
    problems.push({ where: `position ${step.value.position}`, problem: step.value.reason })
  }
}

const checkKeys = async (settings: Settings, { masterKey }: DataFiles): Promise<Omit<Result, 'name'>> => {
  const { keys, problems } = await withData(settings, async ({ keyRows }) => verifyKeys(keyRows(), await loadMasterKey(masterKey)))
  return { seen: `${keys} keys`, problems: problems.map(({ name, problem }) => ({ where: `key ${name}`, problem })) }
}

const LOG_CHECKS = ['decoding', 'order', 'reservations', 'erasure'] as const

async function* namesOf(rows: ReturnType<ToolData['keyRows']>): AsyncGenerator<string> {
  for await (const { name } of rows) yield name
}

const checkEvents = async (settings: Settings, now: number | null, status: StatusLine): Promise<ReadonlyArray<Result>> => {
  try {
    const { events, problems } = await withData(settings, ({ store, keyring, keyRows }) => checkLog({ store: counted(store, 'events', status), keyring, keyNames: () => namesOf(keyRows()), now }))
    return LOG_CHECKS.map((name) => ({ name, seen: `${events} events`, problems: problems.filter(({ check }) => check === name) }))
  } catch (error) {
    return LOG_CHECKS.map((name) => ({ name, seen: '', problems: [{ where: name, problem: `cannot be checked: ${messageOf(error)}` }] }))
  }
}

const SAYS: Readonly<Record<Difference['kind'], string>> = {
  differs: 'is not what the log says',
  missing: 'is missing',
  surplus: 'should not be there',
  unreadable: 'cannot be read',
  misguarded: 'stands at another position than its content',
}

interface UnsureDocuments {
  readonly row: DamagedRow
  /** Which documents the other events of its stream touch: what it said is in them, or should be. */
  readonly ids: ReadonlySet<string>
}

const unsureDocuments = async (
  store: Pick<EventStore, 'subscribe'>,
  { touches }: Projection,
  damaged: ReadonlyArray<DamagedRow>,
): Promise<ReadonlyArray<UnsureDocuments>> => {
  const found: Array<UnsureDocuments> = []
  for (const row of new Map(damaged.map((one) => [one.position, one])).values()) {
    const ids = new Set<string>()
    const enough = new AbortController()
    for await (const message of passingOver(store.subscribe)(BEGINNING, [row.stream], enough.signal)) {
      if (message.kind === 'caught-up') enough.abort()
      if (message.kind === 'event' && message.event.stream === row.stream) for (const id of touches(message.event)) ids.add(id)
    }
    found.push({ row, ids })
  }
  return found
}

/** What differs, but for what damaged rows of the log may have said. */
const compareModel = async (compared: ComparedWithLog, projection: Projection): Promise<ReadonlyArray<Problem>> => {
  const { collection } = projection
  const { store: whole } = compared
  const damaged: Array<DamagedRow> = []
  const store = { ...whole, subscribe: passingOver(whole.subscribe, (row) => damaged.push(row)) }
  const found = await differencesFromLog({ ...compared, store }, projection)
  const unsure = await unsureDocuments(whole, projection, damaged)
  const known = found.filter(({ id }) => unsure.every(({ ids }) => !ids.has(id)))
  return [
    ...known.map(({ id, kind }) => ({ where: `${collection.name} ${id}`, problem: SAYS[kind] })),
    ...unsure.map(({ ids, row: { position, stream } }) => ({
      where: `${collection.name} ${[...ids].join(', ')}`.trimEnd(),
      problem: `${ids.size > 0 ? 'cannot be compared' : 'may differ for this alone'}: position ${position} (${stream}) is not what was written`,
    })),
  ]
}

const checkModels = async (settings: Settings, status: StatusLine): Promise<Omit<Result, 'name'>> => {
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-check-'))
  const scratch = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
  try {
    const problems = await withData(settings, async ({ store, documents }) => {
      const found: Array<Problem> = []
      for (const projection of allProjections)
        try {
          found.push(...(await compareModel({ store: counted(store, `read model ${projection.name}`, status), documents, scratch }, projection)))
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

/** Every check, in the order in which the help names them. */
const checkAll = async (settings: Settings, status: StatusLine): Promise<ReadonlyArray<Result>> => {
  const files = dataFiles(settings)
  const shown = (name: string, run: () => Promise<Omit<Result, 'name'>>): Promise<Result> => {
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

/** Prints what it finds; resolves to the exit code. */
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
