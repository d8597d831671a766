import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { LinkEvents } from '../../../../../application/ports/live-links.ts'
import { openReconnectingLink } from '../../../../../application/running/relay/reconnecting-link.ts'
import { createPlacements } from '../../../../../application/running/relay/placements.ts'
import { initialState } from '../../../../../domain/admission/state.ts'
import { createManualTimers } from '../../../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../../../support/doubles/loggers.ts'
import { turn } from './relay-log.ts'

/** Starts a reconnecting link and records each dial. `onMessage` receives the messages of the worker. */
const startLink = ({ refresh = () => Promise.resolve(), onMessage = () => undefined }: {
  readonly refresh?: () => Promise<void>
  readonly onMessage?: () => void
}) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const dials: Array<{ readonly at: number; readonly events: LinkEvents }> = []
  const peer = { name: 'a', incarnation: 'run of a', address: 'a:1' }
  const link = openReconnectingLink({
    links: { open: (_, __, events) => {
      dials.push({ at: timers.monotonic(), events })
      return { send: () => undefined, buffered: () => 0, close: () => undefined }
    } },
    placements: { of: () => ({ kind: 'member', peer, term: 1 }), refresh },
    environment: { random: () => 1 }, timers, logger,
  }, 1, { up: () => undefined, message: onMessage, down: () => undefined }, true)
  const pass = async (ms: number): Promise<void> => {
    for (let remaining = ms; remaining > 0; remaining -= 100) {
      timers.advance(100)
      await turn()
    }
  }
  return { timers, logger, dials, link, pass }
}

const HERE = { kind: 'here', term: 1, status: 'active' } as const
const RECENT = { kind: 'recent', finals: [], isWhole: true, dropped: [] } as const

test('the delay before a new link grows while messages are unreadable; readable messages end the delay', async (t) => {
  let isUnreadable = true
  const { timers, dials, link, pass } = startLink({
    onMessage: () => {
      if (isUnreadable) throw new Error('unreadable')
    },
  })
  for (let n = 0; n < 5; n += 1) {
    dials.at(-1)?.events.message(HERE)
    dials.at(-1)?.events.message(RECENT)
    await pass(1000)
  }
  t.deepEqual(dials.map(({ at }) => at), [0, 200, 1400, 2800, 4000, 5000])
  isUnreadable = false
  dials.at(-1)?.events.message(HERE)
  dials.at(-1)?.events.message(RECENT)
  dials.at(-1)?.events.closed('it broke')
  await pass(200)
  t.is(dials.length, 7)
  link.stop()
  t.is(timers.size(), 0)
})

test('the worker of a session is dialled again although its placement cannot be queried', async (t) => {
  const { dials, logger, link, pass } = startLink({ refresh: () => Promise.reject(new Error('a defect')) })
  dials[0]?.events.closed('it broke')
  await pass(500)
  t.is(dials.length, 2)
  t.deepEqual(logger.lines.filter(({ level }) => level === 'error').length, 1)
  link.stop()
})

test('the placement of a session can be queried again after a failed attempt', async (t) => {
  let requests = 0
  const placements = createPlacements({
    admission: {
      state: () => initialState,
      refresh: async () => {
        requests += 1
        if (requests === 1) throw new Error('a defect')
        return E.right(initialState)
      },
    },
    members: { self: { name: 'p', incarnation: 'run of p' }, all: () => [] },
  })
  await t.throwsAsync(placements.refresh())
  await t.notThrowsAsync(placements.refresh())
  t.is(requests, 2)
})
