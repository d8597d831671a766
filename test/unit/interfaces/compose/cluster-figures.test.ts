import test from 'ava'
import { initialState } from '../../../../domain/admission/state.ts'
import { clusterFigures } from '../../../../interfaces/compose/cluster-figures.ts'
import { memberNamed, scriptedMembers } from '../../application/admission/members.ts'

test('a process counts as a worker only while it accepts new sessions', (t) => {
  const { members, set } = scriptedMembers(memberNamed('api', null))
  const { workers } = clusterFigures({
    members, leases: { holders: () => [] }, admission: { state: () => initialState },
    links: () => ({ open: 0, failed: 0 }),
  })
  const counted = (changes: Parameters<typeof memberNamed>[2]): number => {
    set([memberNamed('api', null), memberNamed('w1', undefined, changes)])
    return workers()
  }
  t.is(workers(), 0)
  t.is(counted({}), 1)
  t.is(counted({ state: 'draining' }), 0)
  t.is(counted({ logAnswers: false }), 0, 'a worker that does not reach the event store accepts no session')
})
