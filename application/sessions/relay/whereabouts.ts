import { placementOf } from '../../../domain/admission/state.ts'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import type { Peer } from '../../ports/peers/live-links.ts'
import type { Members } from '../../ports/peers/members.ts'

/** Where a live is run, as this process knows. */
export type Where =
  /** By this member, which may be this process itself. */
  | { readonly kind: 'member'; readonly peer: Peer; readonly term: number }
  /** It waits for room, or its worker is not to be seen among the members. */
  | { readonly kind: 'away'; readonly term: number }
  /** It holds nothing: it is over, or its admission was not heard of yet. */
  | { readonly kind: 'unknown' }

export interface Whereabouts {
  /** From memory. */
  readonly of: (liveId: number) => Where
  /** Reads what other processes have said since; many who ask at once share one read. */
  readonly refresh: () => Promise<void>
}

interface WhereaboutsDeps {
  readonly admission: Pick<AdmissionActor, 'state' | 'refresh'>
  readonly members: Pick<Members, 'self' | 'all'>
}

/** Which process runs a live, by `admission`, and its address, by `members`: the run of that name which has joined. */
export const whereabouts = ({ admission, members }: WhereaboutsDeps): Whereabouts => {
  let refreshing: Promise<void> | null = null

  const peerOf = (worker: string): Peer | null => {
    const joined = admission.state().workers.find((one) => one.worker === worker)
    if (joined === undefined) return null
    const { self } = members
    if (joined.incarnation === self.incarnation) return { ...self, address: '' }
    const member = members.all().find(({ name, incarnation }) => name === worker && incarnation === joined.incarnation)
    if (member === undefined || member.address === null) return null
    return { name: member.name, incarnation: member.incarnation, address: member.address }
  }

  const read = async (): Promise<void> => {
    // While the log is away what is known has to do.
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
