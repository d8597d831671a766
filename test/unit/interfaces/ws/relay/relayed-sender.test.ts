import test from 'ava'
import type { AudioPlace, FromWorker, ToWorker } from '../../../../../application/ports/live-links.ts'
import { createManualTimers } from '../../../../support/doubles/manual-timers.ts'
import { silentLogger } from '../../../../support/doubles/loggers.ts'
import { createRelayedSender } from '../../../../../interfaces/ws/relay/relayed-sender.ts'
import type { Connection } from '../../../../../interfaces/ws/connection.ts'

/** Starts an admitted sender over a link that records its messages. */
const startAdmitted = () => {
  const timers = createManualTimers()
  const sent: Array<ToWorker> = []
  const endings: Array<string> = []
  const counts = { releasedLinks: 0 }
  let isPaused = false
  const sender = createRelayedSender({
    liveId: 1, requestId: 'own', timers, logger: silentLogger, leave: () => { counts.releasedLinks += 1 },
  })
  const { onLink } = sender
  const linkUp = (): void =>
    onLink.linkUp({
      link: { send: (message) => void sent.push(message), buffered: () => 0 },
      term: 1,
      status: 'active',
    })
  const connection: Connection = {
    send: () => undefined,
    broadcast: () => undefined,
    end: ({ reason }) => void endings.push(reason),
    drop: () => undefined,
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
    },
    isPaused: () => isPaused,
    buffered: () => 0,
  }
  linkUp()
  onLink.message({ kind: 'admitted', requestId: 'own' })
  const covered: AudioPlace = { frame: 0, sample: 0 }
  onLink.message({ kind: 'covered', ...covered })
  return { timers, sent, endings, counts, onLink, linkUp, connection, incoming: sender.serve(connection) }
}

const ANOTHER_ADMITTED: Extract<FromWorker, { readonly kind: 'admitted' }> = { kind: 'admitted', requestId: 'another' }

test('a returning sender is refused when the worker has admitted another sender of the same process', (t) => {
  const { timers, endings, counts, onLink, linkUp } = startAdmitted()
  onLink.linkDown('broken')
  linkUp()
  // At first the worker cannot decide.
  onLink.message({ kind: 'refused', requestId: 'own', why: 'unavailable' })
  onLink.message(ANOTHER_ADMITTED)
  t.deepEqual(endings, ['sender_already_connected'])
  t.is(counts.releasedLinks, 1)
  timers.advance(60_000)
  t.deepEqual(endings, ['sender_already_connected'])
})

test('a sender waits a limited time for the next worker; a standstill of the process does not count', (t) => {
  const { timers, sent, endings, onLink, linkUp, incoming } = startAdmitted()
  incoming.binary(new Uint8Array(640))
  onLink.linkDown('broken')
  timers.standStill(30_000)
  t.deepEqual(endings, [])
  linkUp()
  onLink.message({ kind: 'admitted', requestId: 'own' })
  t.is(sent.filter(({ kind }) => kind === 'binary').length, 2, 'audio that may not have reached a worker is sent again')

  onLink.linkDown('broken')
  timers.advance(15_000)
  t.deepEqual(endings, ['server_restart'], 'the wait has a limit')
})

test('a sender whose socket has closed releases its link when the worker admits another sender', (t) => {
  const { endings, counts, onLink, incoming } = startAdmitted()
  incoming.binary(new Uint8Array(640))
  incoming.closed(true)
  t.is(counts.releasedLinks, 0, 'the worker still processes the audio of the sender')
  onLink.message(ANOTHER_ADMITTED)
  t.is(counts.releasedLinks, 1)
  t.deepEqual(endings, [])
})

test('a FINISH that a lost worker may not have handled is sent to the next worker, once', (t) => {
  const { sent, onLink, linkUp, incoming } = startAdmitted()
  const finish = { kind: 'text', text: '{"type":"FINISH"}' } as const
  incoming.text(finish.text)
  onLink.linkDown('broken')
  const before = sent.length
  linkUp()
  onLink.message({ kind: 'admitted', requestId: 'own' })
  t.deepEqual(sent.slice(before), [{ kind: 'sender', requestId: 'own', from: { frame: 2, sample: 0 } }, finish])
  incoming.text(finish.text)
  incoming.closed(true)
  t.deepEqual(sent.at(-1), { kind: 'gone', requestId: 'own', how: 'clean' })
})

test('after the end of a session the socket of its sender is still read, up to the buffer limit', (t) => {
  const { onLink, linkUp, connection, incoming } = startAdmitted()
  onLink.linkDown('broken')
  linkUp()
  t.true(connection.isPaused())
  onLink.message({ kind: 'refused', requestId: 'own', why: 'over' })
  t.false(connection.isPaused())
  for (let megabytes = 0; megabytes < 2; megabytes += 1) {
    t.false(connection.isPaused())
    incoming.binary(new Uint8Array(1024 * 1024))
  }
  t.true(connection.isPaused())
})
