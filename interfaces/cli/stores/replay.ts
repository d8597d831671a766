import type { Document } from '../../../application/ports/documents.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { foldLive } from '../../../projections/lives/projection.ts'
import { readUndamaged } from '../../../application/log/read-undamaged.ts'
import { clearData } from './live-events.ts'
import { withData } from './tool-data.ts'
import { unknownLive } from '../not-found.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { REPLAY } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

/** Members that the table shows in other columns. */
const SHOWN = new Set(['liveId', 'userId', 'at'])

/** Encrypted and internal members of the state: they mean nothing to a reader. */
const HIDDEN = new Set(['senderToken', 'listenerToken', 'audioUrl', 'position'])

const stateOf = (events: ReadonlyArray<StoredEvent>): Document | null => {
  const live = foldLive(events) as Document | null
  return live && Object.fromEntries(Object.entries(live).filter(([name]) => !HIDDEN.has(name)))
}

interface ReplayedEvent {
  readonly revision: number
  readonly at: string
  readonly actor: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const brief = (data: Readonly<Record<string, unknown>>): string =>
  Object.entries(data)
    .filter(([name, value]) => !SHOWN.has(name) && value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${text(value)}`)
    .join(' ')

/** Shortens the id of a process to its beginning, which is usually unique. */
const shortActor = (actor: string): string => actor.slice(0, 17).padEnd(17)

const print = (liveId: number, events: ReadonlyArray<ReplayedEvent>, state: Document | null): void => {
  for (const { revision, at, actor, type, data } of events)
    console.log(
      `${String(revision).padStart(3)}  ${at}  ${shortActor(actor)}  ${type.padEnd(14)}  ${brief(data)}`.trimEnd(),
    )
  console.log(`\nsession ${liveId} after revision ${events.at(-1)?.revision ?? 'none'}`)
  if (state === null) console.log('  does not exist')
  else for (const [name, value] of Object.entries(state)) console.log(`  ${name.padEnd(14)}${text(value)}`)
}

/**
 * Runs `stenolog replay`. Resolves to the exit code: 1 when some events cannot be read. Throws for an unknown session.
 */
export const replay = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [live], options: values } = readArguments(REPLAY, args)
  const liveId = Number(live)
  const last = values.at === undefined ? Infinity : Number(values.at)
  return withData(toolSettings(), async ({ store, keyring }) => {
    const { events: all, lost } = orThrow(await readUndamaged(store, liveStream(liveId)))
    if (all.length === 0 && lost.length === 0) throw unknownLive(liveId)
    const stored = all.filter(({ revision }) => revision <= last)
    const events: Array<ReplayedEvent> = []
    for (const event of stored) {
      const { revision, type, metadata } = event
      events.push(
        { revision, at: metadata.recordedAt, actor: metadata.actor, type, data: await clearData(keyring, event) },
      )
    }
    const missing = lost.filter(({ revision }) => revision <= last)
    const state = missing.length === 0 ? stateOf(stored) : null
    const revision = stored.at(-1)?.revision ?? null
    if (values.json) console.log(JSON.stringify({ live: liveId, revision, events, state, lost: missing }))
    else print(liveId, events, state)
    for (const { stream, revision: lostRevision, reason } of missing)
      console.error(`error: revision ${lostRevision} of ${stream} cannot be read: ${reason}`)
    return missing.length === 0 ? 0 : 1
  })
}
