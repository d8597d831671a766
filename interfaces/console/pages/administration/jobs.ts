import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Job, StartJobRequest } from '../../../client/operations.ts'
import { isRunning, jobBadge, jobText, runningJob, useJobs } from '../../components/job.ts'
import { listing } from '../../components/listing.ts'
import { problem, whenLoaded } from '../../components/loading.ts'
import { formatMoment, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction } from '../../state/loading.ts'
import { bdi, button, details, div, p, pre, summary, view } from '../../ui/tags.ts'
import { actorText } from '../session/timeline-tab.ts'

const KINDS = ['pull', 'verify', 'check', 'rebuild'] as const

const resultOf = ({ result, detail }: Job): VNode =>
  result === null ? bdi(null, detail)
    : details(null, summary(null, t('result')), pre(null, JSON.stringify(result, null, 1)))

/** Of the one process of a service that shares its stores with none. */
const ALONE = 'local'

/** Which process does what is told where there may be several. */
const tableOf = (all: ReadonlyArray<Job>): VNode => {
  const areMany = all.some(({ process }) => process !== null && process !== ALONE)
  return listing(t('admin_jobs'),
    [t('job'), t('state'), t('created'), t('event_actor'), ...(areMany ? [t('job_process')] : []), t('result')],
    all.map((job) => ({
      key: job.id, cells: [bdi(null, jobText(job)), jobBadge(job), formatMoment(job.created_at),
        bdi(null, actorText(job.actor)), ...(areMany ? [bdi(null, job.process)] : []), resultOf(job)],
    })))
}

const Jobs = (): VNode => {
  const isFast = useSignal(false)
  const { state, reload } = useJobs(KINDS, isFast.value)
  const { run, error } = useAction()
  const jobs = state.value.data ?? []
  isFast.value = jobs.some(isRunning)
  const begin = (body: StartJobRequest) => (): void =>
    run(async () => {
      await call('startJob', { body })
      reload()
    })
  return div(
    null,
    div(
      { class: 'actions' },
      button({ type: 'button', onClick: begin({ kind: 'check' }), 'aria-describedby': 'check-hint' }, t('run_check')),
      button({ type: 'button', onClick: begin({ kind: 'rebuild' }), 'aria-describedby': 'rebuild-hint' },
        t('run_rebuild')),
      button({ type: 'button', onClick: begin({ kind: 'verify' }) }, t('verify_all')),
    ),
    p({ class: 'hint', id: 'check-hint' }, t('check_hint')),
    p({ class: 'hint', id: 'rebuild-hint' }, t('rebuild_hint')),
    problem(error.value),
    ...jobs.filter(isRunning).map((job) => runningJob({ job, reload, key: job.id })),
    whenLoaded(state.value, reload, (all) =>
      all.length === 0
        ? p({ class: 'empty' }, t('no_jobs'))
        : tableOf(all)),
  )
}

export const jobsPage = view(Jobs)
