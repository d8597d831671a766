import test from 'ava'
import { logMemberChanges } from '../../../../../infrastructure/mongodb/membership/member-changes.ts'
import { memberNamed } from '../../../application/admission/members.ts'
import { createRecordingLogger } from '../../../../support/doubles/loggers.ts'

test('the log names processes that appear, begin a planned stop, and leave; a lost one is not said to leave', (t) => {
  const logger = createRecordingLogger()
  const [api, worker] = [memberNamed('api', null), memberNamed('w1')]
  const draining = memberNamed('w1', undefined, { state: 'draining' })
  const stopping = memberNamed('w1', undefined, { state: 'stopping' })
  let before = [api]
  for (const [after, lost] of [
    [[api, worker], []],
    [[api, draining], []],
    [[api, stopping], []],
    [[api], []],
    [[api, worker], []],
    [[api], [worker]],
  ] as const) {
    logMemberChanges(logger, before, after, lost)
    before = [...after]
  }
  t.deepEqual(logger.lines.map(({ fields, message }) => [fields['member'], message]), [
    ['w1', 'a member is up'],
    ['w1', 'a member stops as planned'],
    ['w1', 'a member has left'],
    ['w1', 'a member is up'],
  ])
})
