import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { LOAD_MINUTES, LOAD_STEP_SECONDS, type LoadHistory } from '../../../../application/load-history.ts'
import { boundedNumber, instant } from '../../../../domain/shared/codecs.ts'
import { count, nullable, roundToMs, single } from '../../codecs/presenters.ts'
import { integerText, lastValue, members, optional } from '../../codecs/validation.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute, type Route } from '../../route.ts'

export interface AdminLoadCalls {
  readonly recentLoad: LoadHistory['recent']
}

const seconds = t.readonlyArray(boundedNumber(0, Number.MAX_SAFE_INTEGER))
const counts = t.readonlyArray(count)

const loadView = t.strict(
  {
    /** Time of the first sample. Null before the first sample. */
    since: nullable(instant),
    /** Seconds between samples. */
    step: count,
    lag_max: seconds,
    lag_p95: seconds,
    vram_reserved: counts,
    sessions: counts,
    listeners: counts,
  },
  'Load',
)

const getLoad = privateRoute(
  'admin',
  {
    operationId: 'getLoad',
    summary: 'Get the load of the last minutes, one sample every ten seconds; samples are kept for six hours',
    method: 'GET',
    path: '/admin/load',
    query: members({ minutes: lastValue(optional(integerText(1, LOAD_MINUTES), 60)) }),
    response: { codec: single(loadView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, calls: AdminLoadCalls) => {
    const samples = calls.recentLoad(query.minutes)
    return E.right({
      data: {
        since: samples[0]?.at ?? null,
        step: LOAD_STEP_SECONDS,
        lag_max: samples.map(({ lagMax }) => roundToMs(lagMax)),
        lag_p95: samples.map(({ lagP95 }) => roundToMs(lagP95)),
        vram_reserved: samples.map(({ vramReserved }) => vramReserved),
        sessions: samples.map(({ sessions }) => sessions),
        listeners: samples.map(({ listeners }) => listeners),
      },
    })
  },
)

export const adminLoadRoutes: ReadonlyArray<Route<AdminLoadCalls>> = [getLoad]
