import test from 'ava'
import { evolve, initialState } from '../../../domain/admission/state.ts'
import { LOAD_MINUTES, startLoadHistory } from '../../../application/load-history.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { after } from '../../support/events/sample-events.ts'

const start = () => {
  const timers = createManualTimers()
  let lags: ReadonlyArray<number> = []
  let second = 0
  const admitted = evolve(initialState, {
    type: 'Admitted',
    data: {
      liveId: 1,
      userId: 3,
      worker: 'w',
      vram: 310,
      needs: ['demo-en'],
      instance: 'i',
      commandId: 'c',
      at: after(0),
    },
  })
  const history = startLoadHistory({
    lags: { current: () => lags },
    admission: { state: () => admitted },
    listeners: { all: () => 2 },
    environment: { now: () => after((second += 1) * 1000) },
    timers,
  })
  return { history, timers, show: (seconds: ReadonlyArray<number>) => (lags = seconds) }
}

test('a sample is taken at once and every ten seconds, with the highest and the 95th percentile lag', (t) => {
  const { history, timers, show } = start()
  const figures = { vramReserved: 310, sessions: 1, listeners: 2 }
  t.deepEqual(history.recent(60), [{ at: after(1000), lagMax: 0, lagP95: 0, ...figures }])
  show([...Array.from({ length: 19 }, () => 0.5), 9])
  timers.advance(10_000)
  t.deepEqual(history.recent(60).slice(1), [{ at: after(2000), lagMax: 9, lagP95: 0.5, ...figures }])
})

test('the history covers six hours, returns the last minutes, and stops on request', (t) => {
  const { history, timers } = start()
  for (let step = 0; step < LOAD_MINUTES * 6 + 5; step += 1) timers.advance(10_000)
  t.is(history.recent(LOAD_MINUTES).length, LOAD_MINUTES * 6)
  t.is(history.recent(2).length, 12)
  const last = history.recent(1).at(-1)
  history.stop()
  timers.advance(60_000)
  t.deepEqual(history.recent(1).at(-1), last)
})
