import type { VNode } from 'preact'
import type { Job } from '../../client/operations.ts'
import { formatNumber, t } from '../messages/texts.ts'
import { call } from '../state/api.ts'
import { type Loading, useAction, useLoaded } from '../state/loading.ts'
import { linkTo } from '../state/address.ts'
import { a, bdi, button, div, label, p, progress, view } from '../ui/tags.ts'
import { badge } from './badge.ts'
import { problem } from './loading.ts'

/** Intervals between two requests for the list of jobs: while a job runs, and at other times. */
const [FAST_MS, SLOW_MS] = [1000, 10_000]

/** Loads the latest jobs of these kinds at regular intervals. `isFast`: the short interval, for a running job. */
export const useJobs = (kinds: ReadonlyArray<Job['kind']>, isFast: boolean): Loading<ReadonlyArray<Job>> =>
  useLoaded(
    async () => (await call('listJobs', { query: { kind: kinds, limit: 50 } })).data,
    kinds.join(),
    isFast ? FAST_MS : SLOW_MS,
  )

export const isRunning = ({ status }: Job): boolean => status === 'running'

/** Describes a job, such as `Install base`. */
export const jobText = ({ kind, subject }: Pick<Job, 'kind' | 'subject'>): string =>
  t(`job_${kind}`, { subject: subject ?? t('job_all') })

const BADGES = { running: ['accent', '…'], done: ['good', '✓'], failed: ['bad', '!'],
  cancelled: ['muted', '○'] } as const

export const jobBadge = ({ status, result }: Job): VNode => {
  if (result?.['ok'] === false) return badge('bad', '!', t('found_trouble'))
  const [tone, sign] = BADGES[status]
  return badge(tone, sign, t(`job_${status}`))
}

const MEGABYTE = 1_000_000

const amount = ({ done, total, unit }: Job): string => {
  const [scale, name] = unit === 'bytes' ? [MEGABYTE, 'MB'] : [1, unit]
  const whole = (value: number): string => formatNumber(Math.round(value / scale))
  return total === null ? t('job_progress_open', { done: whole(done), unit: name })
    : t('job_progress', { done: whole(done), total: whole(total), unit: name })
}

interface RunningProps {
  readonly job: Job
  readonly reload: () => void
}

const Running = ({ job, reload }: RunningProps): VNode => {
  const { run, error } = useAction()
  const cancel = async (): Promise<void> => {
    await call('cancelJob', { path: { id: job.id } })
    reload()
  }
  const id = `job-${job.id}`
  return div(
    { class: 'notice' },
    label({ for: id }, jobText(job)),
    div(
      { class: 'status-line' },
      job.total === null ? progress({ id }) : progress({ id, max: Math.max(1, job.total), value: job.done }),
      p({ class: 'hint' }, amount(job), ' ', bdi(null, job.detail)),
      button({ type: 'button', onClick: () => run(cancel), 'aria-label': `${t('cancel')}: ${jobText(job)}` },
        t('cancel')),
    ),
    problem(error.value),
  )
}

/** Shows a running job with its progress and a button to cancel it. */
export const runningJob = view(Running)

/** Shows the result of an ended job and the next step. */
export const endedJob = (job: Job): VNode => {
  const name = job.result?.['name']
  return div(
    { class: job.status === 'failed' ? 'notice bad' : 'notice', role: job.status === 'failed' ? 'alert' : 'status' },
    p(null, bdi(null, jobText(job)), ' ', jobBadge(job)),
    job.status === 'failed' ? p(null, t('failed_now', { detail: job.detail })) : null,
    job.kind === 'pull' && typeof name === 'string'
      ? p(null, t('installed_now', { name }), ' ',
        a({ href: linkTo('speak', { model: name, source: 'microphone' }) }, t('speak_with')))
      : null,
  )
}
