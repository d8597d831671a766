import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { FromWorker } from '../../../application/ports/peers/live-links.ts'
import type { SenderSession } from '../../../application/sessions/sender-session.ts'
import { createWorkerSenders } from '../../../interfaces/ws/relay/worker-senders.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { turn } from './relay-log.ts'

/** A link to a worker whose one place is given to the first who asks, once its log has answered. */
const openLink = () => {
  const timers = createManualTimers()
  const log = Promise.withResolvers<void>()
  const sent: Array<FromWorker> = []
  const became: Array<string> = []
  let heard = 0
  let told: (message: FromWorker) => void = () => undefined
  const session: SenderSession = {
    liveId: 1, configure: () => 'ok', finish: () => undefined, backlogSeconds: () => 0, onDrained: () => undefined,
    audio: (samples) => {
      heard += samples.length
      return 'ok'
    },
    progress: () => ({ received: heard, sent: heard, stored: heard }),
    closed: (reason) => void became.push(reason), lost: () => void became.push('lost'),
    abandoned: () => void became.push('abandoned'),
  }
  let isTaken = false
  const attachSender = () => async () => {
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
    told(message)
  }
  const link = senders.open({ liveId: 1, term: 1, link: { send, buffered: () => 0 } })
  return { timers, log, sent, became, link, onTold: (hear: typeof told) => { told = hear } }
}

const answers = (sent: ReadonlyArray<FromWorker>): ReadonlyArray<string> =>
  sent.flatMap((one) => (one.kind === 'admitted' || one.kind === 'refused' ? [`${one.requestId} ${one.kind}`] : []))

test('a sender that asks in vain and leaves removes no other sender from its place', async (t) => {
  const { log, sent, became, link } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  link.message({ kind: 'sender', requestId: 'other', from: null })
  link.message({ kind: 'gone', requestId: 'other', how: 'abandoned' })
  await turn()
  log.resolve()
  await turn()
  t.deepEqual(answers(sent), ['other refused', 'first admitted'])
  link.message({ kind: 'gone', requestId: 'other', how: 'abandoned' })
  t.deepEqual(became, [])
  link.message({ kind: 'gone', requestId: 'first', how: 'clean' })
  t.deepEqual(became, ['sender_closed'])
})

test('a sender that leaves during its admission leaves the session unchanged', async (t) => {
  const { log, sent, became, link } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  link.message({ kind: 'gone', requestId: 'first', how: 'abandoned' })
  log.resolve()
  await turn()
  t.deepEqual([answers(sent), became], [[], ['abandoned']])
})

test('a local sender that leaves during a progress message leaves no timer behind', async (t) => {
  const { timers, log, became, link, onTold } = openLink()
  link.message({ kind: 'sender', requestId: 'first', from: null })
  log.resolve()
  await turn()
  link.message({ kind: 'text', text: '{"type":"config"}' })
  link.message({ kind: 'binary', bytes: new Uint8Array(3200) })
  onTold(({ kind }) => {
    if (kind === 'heard') link.message({ kind: 'gone', requestId: 'first', how: 'clean' })
  })
  timers.advance(1000)
  t.deepEqual(became, ['sender_closed'])
  t.is(timers.size(), 0)
})
