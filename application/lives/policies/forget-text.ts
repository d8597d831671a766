import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { LiveCreated, LiveFailed, LiveFinished, liveStream, textKey } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import { whyUnreadable } from '../../log/event-serialization.ts'
import { type LogDutyDeps, type RunningDuty, startLogDuty } from '../../log/log-duty.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'

export interface ForgetTextDeps extends LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'now' | 'read' | 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
  /** Milliseconds for which a session with retention keeps its text after its end. 0: without limit. */
  readonly retentionMax: number
}

/** A rule that erases the text of some sessions. */
interface Policy {
  /** Name of the checkpoint, up to which the policy has processed the log. */
  readonly name: string
  /** True: applies to sessions with retention. False: applies to sessions without retention. */
  readonly retained: boolean
  /** Milliseconds from the end of the session to the erasure. */
  readonly afterMs: number
}

/**
 * Text without retention stays readable this long after the end of its session: a little less than the promised 60 s.
 */
export const READABLE_AFTER_END_MS = 58_000

const UNRETAINED: Policy = { name: 'forget-text', retained: false, afterMs: READABLE_AFTER_END_MS }

const createdOf = eventReader([LiveCreated])
const endOf = eventReader([LiveFinished, LiveFailed])

/** Erases the key first, because without the key no copy of the text can be read. May be repeated. */
const erase = async (deps: ForgetTextDeps, liveId: number): Promise<Either<Unavailable, void>> => {
  const erased = await deps.keyring.erase([textKey(liveId)])
  return E.isLeft(erased) ? erased : await deps.store.deleteStream(segmentsStream(liveId))
}

/** Checks whether the session was created with retention. Left: this could not be read. */
const isRetained = async (deps: ForgetTextDeps, liveId: number): Promise<Either<Unavailable, boolean>> => {
  const first = await deps.store.read(liveStream(liveId), { limit: 1 })
  if (E.isLeft(first)) return first
  const [head] = first.right
  const created = head && createdOf(head)
  // If the first event has another type, the session was never created and has no retention. An unreadable first event
  // is an error.
  const why = head === undefined || created !== undefined ? null : whyUnreadable(head)
  return why === null ? E.right(created?.data.retention === true) : E.left(why)
}

const startPolicy = (deps: ForgetTextDeps, { name, retained, afterMs }: Policy): RunningDuty =>
  startLogDuty(deps, {
    name,
    prefixes: ['live-'],
    afterMs,
    concerns: async (event) => {
      const end = endOf(event)
      if (end === undefined) return false
      const hasRetention = await isRetained(deps, end.data.liveId)
      // With damaged data the retention is unknown. Then the text stays until RETENTION_MAX, because erasure is final.
      const isUnknown = E.isLeft(hasRetention) && isUnreadable(hasRetention.left)
      return (isUnknown && retained) || orThrow(hasRetention) === retained
    },
    perform: async (event) => {
      const end = endOf(event)
      if (end !== undefined) orThrow(await erase(deps, end.data.liveId))
    },
    failure: 'the text of ended sessions could not be erased; trying again',
  })

/**
 * Makes the text of ended sessions unreadable. Without retention this happens about a minute after the end, with
 * retention `retentionMax` milliseconds after it. Runs until stopped. Failures are logged and retried, so no session is
 * skipped.
 */
export const forgetText = (deps: ForgetTextDeps): RunningDuty => {
  const { retentionMax } = deps
  const retained: Policy = { name: 'retention-max', retained: true, afterMs: retentionMax }
  const policies = [UNRETAINED, ...(retentionMax === 0 ? [] : [retained])]
  const duties = policies.map((policy) => startPolicy(deps, policy))
  return {
    stop: async () => {
      await Promise.all(duties.map((duty) => duty.stop()))
    },
  }
}
