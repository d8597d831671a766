import type { Candidate } from '../../domain/admission/placement.ts'
import type { Model } from '../ports/catalogue.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Members, Offers } from '../ports/members.ts'
import type { AdmissionActor } from './admission-actor.ts'
import type { MeasuredCompute } from './measured-compute.ts'
import { storeInstant } from '../store-time.ts'
import { candidatesFrom } from './offers.ts'

export interface SessionNeeds {
  readonly model: Model
  /** Names of the model and, after it, of the translators. */
  readonly needs: ReadonlyArray<string>
  /** Maximum delay of its text, in seconds. */
  readonly maxDelay: number
}

export type CandidatesFor = (session: SessionNeeds) => ReadonlyArray<Candidate>

/** Current values of this process as a worker. The values that it announced may be a second old. */
export interface OwnWorker {
  readonly offers: () => Offers
  readonly compute: Pick<MeasuredCompute, 'forModel'>
  /** Ids of the sessions that it transcribes. */
  readonly lives: () => ReadonlyArray<number>
}

interface CandidatesDeps {
  readonly members: Pick<Members, 'self' | 'all'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly store: Pick<EventStore, 'now'>
  /** Sessions may take this multiple of the lanes (passes that run at the same time). 0: no limit. */
  readonly overcommit: number
  /** Null when this process is not a worker. */
  readonly own: OwnWorker | null
}

/** True when this process or another one has announced its models, even if it accepts no sessions now. */
export const isWorkerKnown = ({ members, own }: Pick<CandidatesDeps, 'members' | 'own'>): boolean =>
  own !== null || members.all().some(({ offers }) => offers !== null)

/** Finds workers for a new session. It uses the announcements of other processes and the current values of this one. */
export const candidatesAmong = ({
  members, admission, store, overcommit, own,
}: CandidatesDeps): CandidatesFor => {
  const { self } = members
  const present = () =>
    own === null
      ? members.all()
      : members.all().map((member) =>
        member.name === self.name ? { ...member, offers: own.offers(), lives: own.lives() } : member)

  return ({ model, needs, maxDelay }) => {
    const query = { needs, state: admission.state(), overcommit, now: storeInstant(store) }
    return candidatesFrom(present(), query).map((candidate) => {
      const isOwn = own !== null && candidate.worker === self.name
      return isOwn ? { ...candidate, compute: own.compute.forModel(model, maxDelay) } : candidate
    })
  }
}
