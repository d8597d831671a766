import type { BSON } from 'mongodb'
import { COMMANDS, COMMON } from './commands.ts'
import { maySecondaryAnswer, refusalOf, viewOf, waitsForMajority, weaknessOf } from './concerns.ts'
import { failure, ServerError } from './errors.ts'
import type { WeakWrite } from './faults.ts'
import { topologyVersionOf } from './greeting.ts'
import type { Seat } from './replica-set.ts'
import type { ReadForUpdate } from './split-updates.ts'
import type { View } from './storage.ts'

interface ServerOptions {
  readonly isReplicaSet: boolean
  /** Perform writes without majority or journal. */
  readonly isLenient: boolean
  readonly readForUpdate: ReadForUpdate
  /** Records a weak write. */
  readonly note: (write: WeakWrite) => void
}

export interface Answer {
  readonly document: BSON.Document
  /** The answer must wait for a majority, at most this long (0: without limit); null: it need not wait. */
  readonly awaitsMajorityMs: number | null
}

/** Answers a command at a member, except hello. */
export type AnswerTo = (command: BSON.Document, seat: Seat) => Answer

/** Commands that every member answers. */
const ANYWHERE = ['ping', 'endSessions', 'killCursors', 'getMore']

/** Creates a server that performs commands one after another. */
export const createServer = ({ isReplicaSet, isLenient, readForUpdate, note }: ServerOptions): AnswerTo => {
  const cursors = new Map<number, ReadonlyArray<BSON.Document>>()

  /** Returns the session and the number of a retryable write; null for every other command. */
  const retryableOf = (
    command: BSON.Document,
    writes: boolean,
  ): { readonly session: string; readonly number: number } | null => {
    if (command['txnNumber'] === undefined) return null
    if (!isReplicaSet || !writes)
      throw new ServerError(
        20,
        'IllegalOperation',
        'Transaction numbers are only allowed on a replica set member or mongos',
      )
    return {
      session: Buffer.from((command['lsid'] as { id: BSON.Binary }).id.value()).toString('hex'),
      number: Number(command['txnNumber']),
    }
  }

  /** The earlier answer if the retryable write was performed before. */
  const earlierReply = (retryable: ReturnType<typeof retryableOf>, { storage }: Seat): BSON.Document | null => {
    const earlier = retryable === null ? undefined : storage.retryable(retryable.session)
    if (retryable === null || earlier === undefined || earlier.number < retryable.number) return null
    if (earlier.number === retryable.number) return earlier.reply
    const message = `Retryable write with txnNumber ${retryable.number} is prohibited on session`
    throw new ServerError(225, 'TransactionTooOld', message)
  }

  const checkWrite = (name: string, command: BSON.Document, { leads }: Seat): void => {
    if (leads === null) throw new ServerError(10107, 'NotWritablePrimary', 'not primary')
    const weak = weaknessOf(name, command)
    if (weak === null) return
    note(weak)
    if (!isLenient) throw refusalOf(weak)
  }

  const viewAt = (name: string, command: BSON.Document, { leads }: Seat): View => {
    if (leads !== null) return viewOf(command)
    if (!ANYWHERE.includes(name) && !maySecondaryAnswer(command))
      throw new ServerError(13435, 'NotPrimaryNoSecondaryOk', 'not primary and secondaryOk=false')
    return 'secondary'
  }

  const run = (name: string, command: BSON.Document, seat: Seat): BSON.Document => {
    const definition = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (definition === undefined) throw new ServerError(59, 'CommandNotFound', `no such command: '${name}'`)
    const unknown = Object.keys(command).find(
      (field) => field !== name && !COMMON.includes(field) && !definition.takes.includes(field),
    )
    if (unknown !== undefined)
      throw new ServerError(40415, 'Location40415', `BSON field '${name}.${unknown}' is an unknown field.`)
    if (definition.writes !== undefined) checkWrite(name, command, seat)
    const retryable = retryableOf(command, definition.writes === 'documents')
    const earlier = earlierReply(retryable, seat)
    if (earlier !== null) return earlier
    const database = String(command['$db'])
    const view = definition.writes !== undefined ? 'local' : viewAt(name, command, seat)
    const { storage } = seat
    const reply = definition.run({
      storage,
      cursors,
      database,
      namespace: `${database}.${String(command[name])}`,
      command,
      view,
      now: seat.now(),
      readForUpdate,
    })
    storage.commit(retryable && { ...retryable, reply })
    return reply
  }

  return (command, seat) => {
    const [name = ''] = Object.keys(command)
    try {
      const document = run(name, command, seat)
      // A write without effect waits too, because data that only the primary has may have decided it.
      const waits = COMMANDS[name]?.writes !== undefined && waitsForMajority(command) && seat.storage.isAhead()
      return { document, awaitsMajorityMs: waits ? Number(command['writeConcern']['wtimeout'] ?? 0) : null }
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      if (seat.leads !== null) seat.storage.commit(null)
      return { document: failure(error, { command, topologyVersion: topologyVersionOf(seat) }), awaitsMajorityMs: null }
    }
  }
}
