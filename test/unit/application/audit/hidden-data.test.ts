import test from 'ava'
import { createIdRules } from '../../../../application/audit/id-rules.ts'
import type { ShortenedStream } from '../../../../application/ports/integrity.ts'
import { after } from '../../../support/events/sample-events.ts'
import { admitted, capacity, creation, problemsOf, registered } from './audited-log.ts'

const idTaken = ['seq-user', { type: 'IdTaken', data: { at: after(0) } }] as const
const history = [capacity, admitted(1), creation(), idTaken, idTaken, idTaken, registered]

const problemsWith = (stored: Parameters<typeof problemsOf>[5], keys: ReadonlyArray<string> = []) =>
  problemsOf(history, [], keys, [], [], stored)

test('keys of ids that the log has not given out are reported, whether they exist or were erased', async (t) => {
  const known = ['live-1', 'text-1', 'user-3', 'user-1', 'keyring-probe', 'job-9']
  t.deepEqual(await problemsWith({ erasedNames: () => known }, known), [])
  const problem = 'belongs to an id that the log has not given out. The keyring is newer than the log'
  t.deepEqual(await problemsWith({ erasedNames: () => ['live-2', 'user-4'] }, ['text-2', 'user-4']), [
    `erasure: key text-2: ${problem}`, `erasure: key user-4: ${problem}`,
    `erasure: key live-2: ${problem}`, `erasure: key user-4: ${problem}`,
  ])
})

test('a restore moves the ids on, and keys of the skipped ids are not reported', async (t) => {
  const rules = createIdRules()
  const observe = (stream: string, revision: number, type: string, data: object): void =>
    rules.observe({ stream, revision, type, data: { ...data } })
  observe('seq-user', 1, 'IdTaken', {})
  observe('restores', 0, 'LogRestored', { idOffsets: { user: 5 } })
  observe('admission', 0, 'LiveIdsSkipped', { through: 9 })
  for await (const _ of rules.watch(['live-9', 'text-10', 'user-7', 'user-8'])) continue
  t.deepEqual(rules.ahead(), ['text-10', 'user-8'])
  observe('seq-user', 2, 'IdTaken', {})
  t.deepEqual(rules.ahead(), ['text-10'], 'the service gave out further ids during the check')
})

test('a stream that hides events is reported, unless the service limits or removes such streams', async (t) => {
  const limited = [
    'seq-user', 'idem-h', 'login-failures-h', 'login-token-j', 'token-use-1', 'jobs', 'snapshot-admission',
  ]
  const shortened = (names: ReadonlyArray<string>, hasLimit = true): ReadonlyArray<ShortenedStream> =>
    names.map((name) => ({ name, hasLimit }))
  const problemsOfStreams = (streams: ReadonlyArray<ShortenedStream>, erased: ReadonlyArray<string> = []) =>
    problemsWith({ shortened: () => streams, erasedNames: () => erased })
  t.deepEqual(await problemsOfStreams(shortened(limited)), [])
  t.deepEqual(await problemsOfStreams(shortened(['segments-1'], false), ['text-1']), [])
  t.deepEqual(await problemsOfStreams(shortened(['segments-1'], false), ['live-1']), [
    'order: segments-1: was removed although the key text-1 was not erased',
  ])
  const hiding = ['segments-1', 'listener-token-h', 'username-h', 'live-1', 'user-3', 'admission', 'jobs-1']
  t.deepEqual(
    await problemsOfStreams(shortened(hiding), ['text-1']),
    hiding.map((name) => `order: ${name}: hides events, which the service never does in this stream`),
  )
})
