import { placementOf } from '../../../domain/admission/state.ts'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import type { Peer } from '../../ports/live-links.ts'
import type { Members } from '../../ports/members.ts'

/** The worker that runs a session, as this process knows it. `term`: leadership term of the worker. */
export type LivePlacement =
  /** A member runs the session. It may be this process itself. */
  | { readonly kind: 'member'; readonly peer: Peer; readonly term: number }
  /** The session waits for a worker, or its worker is not among the members. */
  | { readonly kind: 'away'; readonly term: number }
  /** The session has no reservation, because it has ended or its admission is not known here yet. */
  | { readonly kind: 'unknown' }

export interface Placements {
  /** Returns the placement from memory. */
  readonly of: (liveId: number) => LivePlacement
  /** Reads the newest placements from the log. Concurrent calls share one read. */
  readonly refresh: () => Promise<void>
}

interface PlacementsDeps {
  readonly admission: Pick<AdmissionActor, 'state' | 'refresh'>
  readonly members: Pick<Members, 'self' | 'all'>
}

/** Finds the worker of a session in `admission`, and the worker's address among `members`. */
export const createPlacements = ({ admission, members }: PlacementsDeps): Placements => {
  let refreshing: Promise<void> | null = null

  const peerOf = (worker: string): Peer | null => {
    const joined = admission.state().workers.find((joined) => joined.worker === worker)
    if (joined === undefined) return null
    const { self } = members
    if (joined.incarnation === self.incarnation) return { ...self, address: '' }
    const member = members.all().find(({ name, incarnation }) => name === worker && incarnation === joined.incarnation)
    if (member === undefined || member.address === null) return null
    return { name: member.name, incarnation: member.incarnation, address: member.address }
  }

  const read = async (): Promise<void> => {
    // When the log is unavailable, the known placements stay in use.
    await admission.refresh().finally(() => { refreshing = null })
  }

  return {
    of: (liveId) => {
      const placement = placementOf(admission.state(), liveId)
      if (placement === null) return { kind: 'unknown' }
      const peer = placement.worker === null ? null : peerOf(placement.worker)
      const { term } = placement
      return peer === null ? { kind: 'away', term } : { kind: 'member', peer, term }
    },
    refresh: () => (refreshing ??= read()),
  }
}
