import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ADMINISTRATION_STREAM, type AdministrationEvent } from '../../domain/admin-actions/events.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { Unavailable } from '../refusals.ts'
import { appendWithRetries, type WriteDeps } from './handle-command.ts'

/** Records an action of an administrator. Call it before the action, so no action happens without a record. */
export const recordAdministration = async (
  deps: WriteDeps,
  caller: Caller,
  { type, data }: AdministrationEvent,
): Promise<Either<Unavailable, void>> => {
  const id = deps.environment.newId()
  const correlationId = deps.environment.correlationId() ?? id
  const metadata = { correlationId, causationId: id, actor: actorOf(caller), recordedAt: data.at }
  const appended = await appendWithRetries(deps, ADMINISTRATION_STREAM, 'any', [{ id, type, data, metadata }])
  if (E.isRight(appended)) return E.right(undefined)
  if (appended.left._tag === 'StoreUnavailable') return E.left(appended.left)
  throw new Error(`${ADMINISTRATION_STREAM} refused an append at any revision`)
}
