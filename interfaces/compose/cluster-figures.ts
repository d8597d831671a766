import type { AdmissionActor } from '../../application/admission/admission-actor.ts'
import type { Leases } from '../../application/ports/leases.ts'
import type { Members } from '../../application/ports/members.ts'
import type { LinkFigures } from '../../application/running/relay/remote-lives.ts'
import type { ClusterFigures } from '../../infrastructure/observability/cluster-metrics.ts'
import { acceptsSessions } from '../../application/admission/offers.ts'
import type { Part } from './assemble.ts'

interface Observed {
  readonly members: Pick<Members, 'all' | 'onLost'>
  readonly leases: Pick<Leases, 'holders'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly links: () => LinkFigures
}

/** Collects figures about all processes of the cluster, for metrics and health. */
export const clusterFigures = ({ members, leases, admission, links }: Observed): ClusterFigures & Part => {
  let lost = 0
  const stop = members.onLost(() => {
    lost += 1
  })
  const open = () => admission.state().open
  return {
    members: () => members.all().map(({ state }) => state),
    workers: () => members.all().filter(acceptsSessions).length,
    lost: () => lost,
    leases: () => leases.holders(),
    // A term is a period in which one worker leads a session. The first term is 1, so a moved session has a higher one.
    moved: () => open().filter(({ term }) => term > 1).length,
    unplaced: () => open().filter(({ worker }) => worker === null).length,
    links,
    stop: async () => stop(),
  }
}
