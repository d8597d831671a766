import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { LiveViewed } from '../../../domain/admin-actions/events.ts'
import type { Caller } from '../../caller.ts'
import { type EntryNotFound, type LiveNotFound, liveNotFound, type Unavailable } from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAdministration } from '../../log/record-administration.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { FactsOfLive, LiveFacts } from '../../ports/read-models.ts'
import { type AdminLive, type AdminLiveDeps, toAdminLive } from '../admin-live.ts'
import { factsOf } from './live-view.ts'
import { findLive } from '../owned-live.ts'
import { type PastLive, readHistoryEntry, readHistoryPage } from './get-history.ts'
import { checkIntegrity, type IntegrityDeps, type LiveIntegrity } from './get-integrity.ts'
import { type HistoryEntry, maskForAdministrator } from './history-entries.ts'

type Inspection<A, L = never> = Promise<Either<L | LiveNotFound | Unavailable, A>>

/** For administrators: reads the session of any owner. Every access is recorded as an event. */
export interface InspectLive {
  readonly getAnyLive: (caller: Caller, liveId: number) => Inspection<AdminLive>
  readonly getAnyHistory: (caller: Caller, liveId: number, page: PageQuery) => Inspection<Page<HistoryEntry>>
  readonly getAnyHistoryEntry: (
    caller: Caller,
    liveId: number,
    entryId: number,
  ) => Inspection<PastLive<AdminLive>, EntryNotFound>
  readonly getAnyIntegrity: (caller: Caller, liveId: number) => Inspection<LiveIntegrity>
}

export interface InspectLiveDeps
  extends WriteDeps, AdminLiveDeps, Pick<IntegrityDeps, 'verifyStream' | 'retentionMax'> {
  readonly factsOfLive: FactsOfLive
}

const anyOwner = (): boolean => true

export const inspectLive = (deps: InspectLiveDeps): InspectLive => {
  const find = findLive(deps.store)
  const readPage = readHistoryPage(deps, maskForAdministrator)
  const readEntry = readHistoryEntry(deps, maskForAdministrator)
  const check = checkIntegrity(deps)
  const forAdministrators = toAdminLive(deps)

  /** Records the access before the data is returned. */
  const record = (
    caller: Caller, liveId: number, view: LiveViewed['data']['view'],
  ): Promise<Either<Unavailable, void>> => {
      const data = { liveId, view, at: deps.environment.now() }
      return recordAdministration(deps, caller, { type: LiveViewed.type, data })
    }

  const findFacts = async (liveId: number): Promise<Either<LiveNotFound | Unavailable, LiveFacts>> =>
    pipe(await deps.factsOfLive(liveId), E.chainW(E.fromOption(() => liveNotFound)))

  return {
    getAnyLive: async (caller, liveId) => {
      const facts = await findFacts(liveId)
      if (E.isLeft(facts)) return facts
      const recorded = await record(caller, liveId, 'live')
      return E.isLeft(recorded) ? recorded : await forAdministrators(facts.right)
    },
    getAnyHistory: async (caller, liveId, page) => {
      const live = await find(anyOwner, liveId)
      if (E.isLeft(live)) return live
      const recorded = await record(caller, liveId, 'history')
      return E.isLeft(recorded) ? recorded : await readPage(liveId, live.right, page)
    },
    getAnyHistoryEntry: async (caller, liveId, entryId) => {
      const found = await find(anyOwner, liveId)
      if (E.isLeft(found)) return found
      const read = await readEntry(liveId, found.right, entryId)
      if (E.isLeft(read)) return read
      const recorded = await record(caller, liveId, 'entry')
      if (E.isLeft(recorded)) return recorded
      const { entry, state } = read.right
      // Only the present lag is known, not the lag after an earlier event.
      const live = await forAdministrators(factsOf(state))
      return pipe(live, E.map((shown) => ({ entry, state: { ...shown, lag: null } })))
    },
    getAnyIntegrity: async (caller, liveId) => {
      const facts = await findFacts(liveId)
      if (E.isLeft(facts)) return facts
      const recorded = await record(caller, liveId, 'integrity')
      return E.isLeft(recorded) ? recorded : await check(liveId)
    },
  }
}
