import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { LiveCreated, LiveFailed, LiveFinished, liveStream, textKey } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { whyUnreadable } from '../../log/event-serialization.ts'
import { startLogDuty } from '../../log/log-duty.ts'
import type { LogDutyDeps, RunningDuty } from '../../log/log-duty.ts'
import type { Environment } from '../../ports/environment.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { pause } from '../../waiting.ts'

export interface ForgetTextDeps extends LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'read' | 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
  readonly environment: Pick<Environment, 'now' | 'random' | 'monotonic'>
  /** Milliseconds after their end for which lives keep the text that they were asked to keep, 0 for ever. */
  readonly retentionMax: number
}

/** Which text goes, and how long after the end of its live. */
interface Policy {
  /** Name of its checkpoint. */
  readonly name: string
  readonly retained: boolean
  readonly afterMs: number
}

/**
 * How long after the end of its live text that nobody asked to keep is read: a little under the promised 60 s, so that
 * from then on nothing can be.
 */
export const READABLE_AFTER_END_MS = 58_000

const UNRETAINED: Policy = { name: 'forget-text', retained: false, afterMs: READABLE_AFTER_END_MS }

/** Of Node's timers; a longer wait takes several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

const createdOf = reading([LiveCreated])
const endOf = reading([LiveFinished, LiveFailed])

/** The key first: with it gone no copy of the text can be read. Both are repeatable. */
const erase = async (deps: ForgetTextDeps, liveId: number): Promise<Either<Unavailable, void>> => {
  const erased = await deps.keyring.erase([textKey(liveId)])()
  return E.isLeft(erased) ? erased : await deps.store.deleteStream(segmentsStream(liveId))()
}

/** Whether the live asked to keep its text; one without a beginning keeps nothing. Left: nobody knows. */
const isRetained = async (deps: ForgetTextDeps, liveId: number): Promise<Either<Unavailable, boolean>> => {
  const first = await deps.store.read(liveStream(liveId), { limit: 1 })()
  if (E.isLeft(first)) return first
  const [head] = first.right
  const created = head && createdOf(head)
  // A first event of another type is no beginning; one that cannot be read leaves it open.
  const why = head === undefined || created !== undefined ? null : whyUnreadable(head)
  return why === null ? E.right(created?.data.retention === true) : E.left(why)
}

const sleep = async (deps: ForgetTextDeps, ms: number, signal: AbortSignal): Promise<void> => {
  let left = ms
  do {
    await pause(deps.timers, Math.min(left, LONGEST_TIMER_MS), signal)
    left -= LONGEST_TIMER_MS
  } while (left > 0 && !signal.aborted)
}

/** Ends come in the order of time, so waiting for one never delays the next. */
const startPolicy = (deps: ForgetTextDeps, { name, retained, afterMs }: Policy): RunningDuty =>
  startLogDuty(deps, {
    name,
    prefixes: ['live-'],
    concerns: (event) => endOf(event) !== undefined,
    perform: async (event, signal) => {
      const end = endOf(event)
      if (end === undefined) return
      const { liveId, at } = end.data
      const asked = await isRetained(deps, liveId)
      // Where nobody knows, what is erased would never come back; but no live may ask for more than RETENTION_MAX.
      const isUnknown = E.isLeft(asked) && isHurt(asked.left)
      if (!(isUnknown && retained) && orThrow(asked) !== retained) return
      const due = Date.parse(at) + afterMs
      await sleep(deps, Math.min(afterMs, Math.max(0, due - Date.parse(deps.environment.now()))), signal)
      if (!signal.aborted) orThrow(await erase(deps, liveId))
    },
    failure: 'the text of ended lives could not be forgotten; trying again',
  })

/**
 * Follows the ends of lives and makes their text unreadable: a minute later without retention, after `retentionMax`
 * with it. Runs until stopped; failures are logged and tried again, so no live is passed over for good.
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
