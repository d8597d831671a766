import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { FromWorker } from '../../../../../application/ports/live-links.ts'
import type { SenderSession } from '../../../../../application/running/socket-sessions.ts'
import { createWorkerSenders } from '../../../../../interfaces/ws/relay/worker-senders.ts'
import { createManualTimers } from '../../../../support/doubles/manual-timers.ts'
import { silentLogger } from '../../../../support/doubles/loggers.ts'
import { turn } from '../../../application/running/relay/relay-log.ts'

/** Opens a link to a worker that admits the first sender after its log has answered. */
const openLink = () => {
  const timers = createManualTimers()
  const log = Promise.withResolvers<void>()
  const sent: Array<FromWorker> = []
  const outcomes: Array<string> = []
  let receivedSamples = 0
  let onMessage: (message: FromWorker) => void = () => undefined
  const session: SenderSession = {
    liveId: 1, configure: () => 'ok', finish: () => undefined, backlogSeconds: () => 0, onDrained: () => undefined,
    audio: (samples) => {
      receivedSamples += samples.length
      return 'ok'
    },
    progress: () => ({ received: receivedSamples, sent: receivedSamples, stored: receivedSamples }),
    closed: (reason) => void outcomes.push(reason), lost: () => void outcomes.push('lost'),
    abandoned: () => void outcomes.push('abandoned'),
  }
  let isTaken = false
  const attachSender = async () => {
    if (isTaken) return E.left({ _tag: 'SenderAlreadyConnected' } as const)
    isTaken = true
    await log.promise
    return E.right(session)
  }
  const senders = createWorkerSenders({
    sessions: { attachSender }, takeoverGrace: 1000, rateLimits: false, idleTimeout: 0,
    environment: { monotonic: timers.monotonic }, timers, logger: silentLogger,
  })
  const send = (message: FromWorker): void => {
    sent.push(message)
    onMessage(message)
  }
  const link = senders.open({ liveId: 1, term: 1, link: { send, buffered: () => 0 } })
  return { timers, log, sent, outcomes, link, onSent: (handle: typeof onMessage) => { onMessage = handle } }
}

const answers = (sent: ReadonlyArray<FromWorker>): ReadonlyArray<string> =>
  sent.flatMap((message) =>
    message.kind === 'admitted' || message.kind === 'refused' ? [`${message.requestId} ${message.kind}`] : [],
  )

test('when a refused sender leaves, the admitted sender stays connected', async (t) => {
  const { log, sent, outcomes, link } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  link.message({ kind: 'sender', requestId: 'other', from: null })
  link.message({ kind: 'gone', requestId: 'other', how: 'abandoned' })
  await turn()
  log.resolve()
  await turn()
  t.deepEqual(answers(sent), ['other refused', 'first admitted'])
  link.message({ kind: 'gone', requestId: 'other', how: 'abandoned' })
  t.deepEqual(outcomes, [])
  link.message({ kind: 'gone', requestId: 'first', how: 'clean' })
  t.deepEqual(outcomes, ['sender_closed'])
})

test('a sender that leaves during its admission leaves the session unchanged', async (t) => {
  const { log, sent, outcomes, link } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  link.message({ kind: 'gone', requestId: 'first', how: 'abandoned' })
  log.resolve()
  await turn()
  t.deepEqual([answers(sent), outcomes], [[], ['abandoned']])
})

test('a local sender that leaves during a progress message leaves no timer behind', async (t) => {
  const { timers, log, outcomes, link, onSent } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  log.resolve()
  await turn()
  link.message({ kind: 'text', text: '{"type":"config"}' })
  link.message({ kind: 'binary', bytes: new Uint8Array(3200) })
  onSent(({ kind }) => {
    if (kind === 'heard') link.message({ kind: 'gone', requestId: 'first', how: 'clean' })
  })
  timers.advance(1000)
  t.deepEqual(outcomes, ['sender_closed'])
  t.is(timers.size(), 0)
})
