import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { AdmissionRefusal } from '../../domain/admission/decider.ts'
import { isPlaceable } from '../../domain/admission/placement.ts'
import { isUnreadable } from '../errors.ts'
import type { Unavailable } from '../errors.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { createOutage } from '../outages.ts'
import type { Timers } from '../ports/timers.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { AdmissionActor, UndatedCommand } from './admission-actor.ts'

export interface PlacingDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'offering'>
  readonly environment: Environment
}

/** Sends a command, and then assigns workers to waiting sessions until no more can be placed. */
export const sendAndPlace = async (
  deps: PlacingDeps,
  command: UndatedCommand,
): Promise<Either<AdmissionRefusal | Unavailable, void>> => {
  const { admission } = deps
  let sent = await admission.send({ command, ...ownOrigin(deps) })
  while (E.isRight(sent) && isPlaceable(sent.right, admission.offering()))
    sent = await admission.send({ command: { type: 'Place' }, ...ownOrigin(deps) })
  return E.map(() => undefined)(sent)
}

const RETRY = { first: 100, longest: 5000 }

/** Sends a command and retries while the log is unavailable. False: the signal aborted, or the log cannot be read. */
export const sendWithRetries = async (
  deps: PlacingDeps & { readonly timers: Timers; readonly logger: Logger },
  command: UndatedCommand,
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
