import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { AdmissionCommand, AdmissionRefusals } from '../../domain/admission/decider.ts'
import type { CommandOf } from '../../domain/shared/decider.ts'
import { isPlaceable } from '../../domain/admission/placement.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import { isUnreadable, type Unavailable } from '../refusals.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { createOutage } from '../outages.ts'
import type { Timers } from '../ports/timers.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { AdmissionActor } from './admission-actor.ts'

export interface PlacingDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'offering'>
  readonly environment: Environment
}

/** Assigns workers to waiting sessions until no more can be placed. */
const placeAll = async (
  deps: PlacingDeps,
  from: AdmissionState,
): Promise<Either<Unavailable, void>> => {
  const { admission } = deps
  let state = from
  while (isPlaceable(state, admission.offering())) {
    const placed = await admission.send({ command: { type: 'Place' }, ...ownOrigin(deps) })
    if (E.isLeft(placed)) return placed
    state = placed.right
  }
  return E.right(undefined)
}

export const sendAndPlace = async <Type extends AdmissionCommand['type']>(
  deps: PlacingDeps,
  command: CommandOf<AdmissionCommand, Type>,
): Promise<Either<AdmissionRefusals[Type] | Unavailable, void>> => {
  const sent = await deps.admission.send({ command, ...ownOrigin(deps) })
  return E.isLeft(sent) ? E.left(sent.left) : await placeAll(deps, sent.right)
}

const RETRY = { first: 100, longest: 5000 }

/** Sends a command and retries while the log is unavailable. False: the signal aborted, or the log cannot be read. */
export const sendWithRetries = async (
  deps: PlacingDeps & { readonly timers: Timers; readonly logger: Logger },
  command: AdmissionCommand,
  signal: AbortSignal,
): Promise<boolean> => {
  const { timers, logger, environment } = deps
  const outage = createOutage(
    deps, 'a command for the stream admission failed; trying again', 'a command for the stream admission is done',
  )
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const sent = await sendAndPlace(deps, command)
    if (E.isRight(sent)) {
      outage.ended({ command: command.type })
      return true
    }
    const refusal = sent.left._tag
    if (isUnreadable(sent.left)) {
      logger.error({ command: command.type, refusal }, 'the stream admission cannot be read; the command is dropped')
      return false
    }
    outage.failed(refusal, { command: command.type })
    await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
  }
  return false
}
