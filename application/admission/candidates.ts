import type { Candidate } from '../../domain/admission/placement.ts'
import type { Model } from '../ports/catalogue.ts'
import type { Environment } from '../ports/environment.ts'
import type { Member, Members, Offers } from '../ports/peers/members.ts'
import type { AdmissionActor } from './admission-actor.ts'
import type { MeasuredCompute } from './measured-compute.ts'
import { candidatesFrom } from './offers.ts'

/** What a live asks of its worker. */
export interface AskedForLive {
  readonly model: Model
  /** Names of the model and, behind it, of the translators. */
  readonly needs: ReadonlyArray<string>
  /** Seconds within which it shall show its text. */
  readonly maxDelay: number
}

/** Workers that may run the live. */
export type CandidatesFor = (asked: AskedForLive) => ReadonlyArray<Candidate>

/** This process as a worker, at this moment: what it announced may be a second old. */
export interface OwnWorker {
  readonly offers: () => Offers
  readonly compute: Pick<MeasuredCompute, 'forModel'>
  /** Lives that it hears. */
  readonly lives: () => ReadonlyArray<number>
}

/** Whether a process takes new sessions. */
export const canRunSessions = ({ roles, state, offers }: Pick<Member, 'roles' | 'state' | 'offers'>): boolean =>
  roles.includes('worker') && state === 'up' && offers !== null

interface CandidatesDeps {
  readonly members: Pick<Members, 'self' | 'all'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly environment: Pick<Environment, 'now'>
  readonly overcommit: number
  /** Null where this process is no worker. */
  readonly own: OwnWorker | null
}

/** Workers for a new live, as they announced themselves; this process by its own figures. */
export const candidatesAmong = ({
  members, admission, environment, overcommit, own,
}: CandidatesDeps): CandidatesFor => {
  const { self } = members
  const present = () =>
    own === null
      ? members.all()
      : members.all().map((one) => (one.name === self.name ? { ...one, offers: own.offers(), lives: own.lives() } : one))

  return ({ model, needs, maxDelay }) => {
    const asked = { needs, state: admission.state(), overcommit, now: environment.now() }
    return candidatesFrom(present(), asked).map((one) =>
      own !== null && one.worker === self.name ? { ...one, compute: own.compute.forModel(model, maxDelay) } : one,
    )
  }
}
