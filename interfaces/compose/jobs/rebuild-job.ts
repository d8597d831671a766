import * as E from 'fp-ts/lib/Either.js'
import type { JobRunner } from '../../../application/jobs/job.ts'
import type { Projector } from '../../../application/ports/projector.ts'
import { allProjections } from '../../../projections/all-projections.ts'

const NAMES = allProjections.map(({ name }) => name)

/** Does the work of `stenolog rebuild`: rebuilds one read model, or all of them one after another. */
export const rebuildJob = ({ rebuild }: Pick<Projector, 'rebuild'>): JobRunner => ({
  problem: ({ subject }) =>
    subject === null || NAMES.includes(subject) ? null : `should be one of ${NAMES.join(', ')}`,
  run: async ({ subject }, report, signal) => {
    const rebuilt: Array<object> = []
    let before = 0
    for (const name of NAMES.filter((candidate) => subject === null || candidate === subject)) {
      // A rebuild that has begun cannot be cancelled, so cancelling stops before the next one.
      if (signal.aborted) return E.left('cancelled')
      const outcome = await rebuild(name, ({ events, share, held }) =>
        report({
          done: before + events,
          total: subject !== null && share !== null && share > 0 ? Math.round(events / share) : null,
          detail: held === null ? name : `${name}: waiting: ${held}`,
        }))
      if (E.isLeft(outcome)) return E.left(`${name}: ${outcome.left}`)
      const { events, resumed, corrected, seconds } = outcome.right
      before += events
      rebuilt.push({ name, events, resumed, corrected, seconds: Math.round(seconds * 1000) / 1000 })
    }
    report({ done: before, total: before, detail: '' })
    return E.right({ read_models: rebuilt })
  },
})
