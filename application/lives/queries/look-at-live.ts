import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { LiveViewed } from '../../../domain/administration/events.ts'
import type { Caller } from '../../caller.ts'
import type { EntryNotFound, LiveNotFound, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAct } from '../../log/record-act.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { FactsOf, FactsOfLive, LiveFacts } from '../../ports/read-models.ts'
import { adminLive } from '../admin-live.ts'
import type { AdminLive, AdminLiveDeps } from '../admin-live.ts'
import { findLive } from '../owned-live.ts'
import { entryOfHistory, pageOfHistory } from './get-history.ts'
import type { PastLive } from './get-history.ts'
import { integrityOf } from './get-integrity.ts'
import type { IntegrityDeps, LiveIntegrity } from './get-integrity.ts'
import { ofAdministrator } from './history-entries.ts'
import type { HistoryEntry } from './history-entries.ts'

type Looked<A, L = never> = TaskEither<L | LiveNotFound | Unavailable, A>

/** For administrators: one live, whoever owns it. Every look at it is an event. */
export interface LookAtLive {
  readonly getAnyLive: (caller: Caller, liveId: number) => Looked<AdminLive>
  readonly getAnyHistory: (caller: Caller, liveId: number, page: PageQuery) => Looked<Page<HistoryEntry>>
  readonly getAnyHistoryEntry: (
    caller: Caller,
    liveId: number,
    entryId: number,
  ) => Looked<PastLive<AdminLive>, EntryNotFound>
  readonly getAnyIntegrity: (caller: Caller, liveId: number) => Looked<LiveIntegrity>
}

export interface LookAtLiveDeps extends WriteDeps, AdminLiveDeps, IntegrityDeps {
  readonly environment: WriteDeps['environment']
  readonly factsOf: FactsOf
  readonly factsOfLive: FactsOfLive
}

const notFound: LiveNotFound = { _tag: 'LiveNotFound' }
const anybody = (): boolean => true

export const lookAtLive = (deps: LookAtLiveDeps): LookAtLive => {
  const find = findLive(deps.store)
  const pageOf = pageOfHistory(deps, ofAdministrator)
  const entryOf = entryOfHistory(deps, ofAdministrator)
  const judge = integrityOf(deps)
  const named = adminLive(deps)

  const record = (caller: Caller, liveId: number, view: LiveViewed['data']['view']) =>
    recordAct(deps, caller, { type: LiveViewed.type, data: { liveId, view, at: deps.environment.now() } })

  const known = async (liveId: number): Promise<Either<LiveNotFound | Unavailable, LiveFacts>> => {
    const found = await deps.factsOfLive(liveId)()
    return E.isLeft(found) ? found : E.fromOption(() => notFound)(found.right)
  }

  return {
    getAnyLive: (caller, liveId) => async () => {
      const live = await known(liveId)
      if (E.isLeft(live)) return live
      const recorded = await record(caller, liveId, 'live')
      return E.isLeft(recorded) ? recorded : await named(live.right)()
    },
    getAnyHistory: (caller, liveId, page) => async () => {
      const live = await find(anybody, liveId)()
      if (E.isLeft(live)) return live
      const recorded = await record(caller, liveId, 'history')
      return E.isLeft(recorded) ? recorded : await pageOf(liveId, live.right, page)()
    },
    getAnyHistoryEntry: (caller, liveId, entryId) => async () => {
      const live = await find(anybody, liveId)()
      if (E.isLeft(live)) return live
      const past = await entryOf(liveId, live.right, entryId)()
      if (E.isLeft(past)) return past
      const recorded = await record(caller, liveId, 'entry')
      if (E.isLeft(recorded)) return recorded
      const { entry, state: events } = past.right
      const facts = O.fromNullable(deps.factsOf(events))
      if (O.isNone(facts)) return E.left(notFound)
      // How far behind it is can be told of this moment alone.
      return E.map((state: AdminLive) => ({ entry, state: { ...state, lag: null } }))(await named(facts.value)())
    },
    getAnyIntegrity: (caller, liveId) => async () => {
      const live = await known(liveId)
      if (E.isLeft(live)) return live
      const recorded = await record(caller, liveId, 'integrity')
      return E.isLeft(recorded) ? recorded : await judge(liveId)()
    },
  }
}
