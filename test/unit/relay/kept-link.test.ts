import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { LinkEvents } from '../../../application/ports/peers/live-links.ts'
import { openReconnectingLink } from '../../../application/sessions/relay/reconnecting-link.ts'
import { createPlacements } from '../../../application/sessions/relay/placements.ts'
import { initialState } from '../../../domain/admission/state.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { turn } from './relay-log.ts'

/** A link to a worker that answers each dial as `answer` does. */
const startKept = ({ refresh = () => Promise.resolve(), hear = () => undefined }: {
  readonly refresh?: () => Promise<void>
  readonly hear?: () => void
}) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const dials: Array<{ readonly at: number; readonly events: LinkEvents }> = []
  const peer = { name: 'a', incarnation: 'run of a', address: 'a:1' }
  const kept = openReconnectingLink({
    links: { open: (_, __, events) => {
      dials.push({ at: timers.monotonic(), events })
      return { send: () => undefined, buffered: () => 0, close: () => undefined }
    } },
    placements: { of: () => ({ kind: 'member', peer, term: 1 }), refresh },
    environment: { random: () => 1 }, timers, logger,
  }, 1, { up: () => undefined, message: hear, down: () => undefined }, true)
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) {
      timers.advance(100)
      await turn()
    }
  }
  return { timers, logger, dials, kept, pass }
}

const HERE = { kind: 'here', term: 1, status: 'active' } as const
const RECENT = { kind: 'recent', finals: [], isWhole: true, dropped: [] } as const

test('a worker with unreadable messages is dialled ever more rarely, with readable ones immediately', async (t) => {
  let isNonsense = true
  const { timers, dials, kept, pass } = startKept({
    hear: () => {
      if (isNonsense) throw new Error('nonsense')
    },
  })
  for (let n = 0; n < 5; n += 1) {
    dials.at(-1)?.events.message(HERE)
    dials.at(-1)?.events.message(RECENT)
    await pass(1000)
  }
  t.deepEqual(
    dials.map(({ at }) => at),
    [0, 200, 1400, 2800, 4000, 5000],
  )
  isNonsense = false
  dials.at(-1)?.events.message(HERE)
  dials.at(-1)?.events.message(RECENT)
  dials.at(-1)?.events.closed('it broke')
  await pass(200)
  t.is(dials.length, 7)
  kept.stop()
  t.is(timers.size(), 0)
})

test('a session is dialled again although its place cannot be queried', async (t) => {
  const { dials, logger, kept, pass } = startKept({ refresh: () => Promise.reject(new Error('a defect')) })
  dials[0]?.events.closed('it broke')
  await pass(500)
  t.is(dials.length, 2)
  t.deepEqual(logger.lines.filter(({ level }) => level === 'error').length, 1)
  kept.stop()
})

test('the place of a session can be queried again after a failed attempt', async (t) => {
  let asked = 0
  const where = createPlacements({
    admission: {
      state: () => initialState,
      refresh: async () => {
        asked += 1
        if (asked === 1) throw new Error('a defect')
        return E.right(initialState)
      },
    },
    members: { self: { name: 'p', incarnation: 'run of p' }, all: () => [] },
  })
  await t.throwsAsync(where.refresh())
  await t.notThrowsAsync(where.refresh())
  t.is(asked, 2)
})
