import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DamagedRow, skipDamaged } from '../../../application/log/skip-damaged.ts'
import { BEGINNING, type EventStore } from '../../../application/ports/event-store.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import type { Guard } from '../../../infrastructure/store-rules/guard.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { type ComparedWithLog, differencesFromLog } from '../../../projections/compare-with-log.ts'
import type { Difference } from '../../../projections/fold-log.ts'
import type { Projection } from '../../../projections/projection.ts'
import { type ToolData, withData } from './tool-data.ts'
import { countEvents } from './count-events.ts'
import type { StatusLine } from '../status-line.ts'
import type { Outcome, Problem } from './outcome.ts'

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

/** Finds guards that the service would never write. Because of them it would ignore later changes. */
const wrongGuards = async ({ store, guards, highestToken }: ToolData): Promise<ReadonlyArray<Problem>> => {
  const before = orThrow(await store.head())
  const later: Array<Guard> = []
  const fenced: Array<Guard> = []
  for await (const guard of guards(allProjections.map(({ collection }) => collection.name))) {
    if (guard.position > before) later.push(guard)
    if (guard.token > 0) fenced.push(guard)
  }
  // Read last, because the service may have written meanwhile.
  const [head, token] = [orThrow(await store.head()), await highestToken()]
  return [
    ...later.filter(({ position }) => position > head).map(({ where, position }) =>
      ({ where, problem: `has the position ${position}, after the end of the log` })),
    ...fenced.filter((guard) => guard.token > token).map(({ where, token: raised }) =>
      ({ where, problem: `has the token ${raised}, which no lease has given out` })),
  ]
}

/** Compares all read models with the log, and checks the guards of their documents and of all checkpoints. */
export const checkModels = async (settings: Settings, status: StatusLine): Promise<Outcome> => {
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-check-'))
  const scratch = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
  try {
    const problems = await withData(settings, async (data) => {
      const { store, documents } = data
      const found: Array<Problem> = [...(await wrongGuards(data))]
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
