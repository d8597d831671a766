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

/** The name of the only process of a service with embedded stores. */
const SINGLE_PROCESS = 'local'

/** Shows the jobs. The column with the process appears only in a cluster. */
const tableOf = (all: ReadonlyArray<Job>): VNode => {
  const isCluster = all.some(({ process }) => process !== null && process !== SINGLE_PROCESS)
  return listing(t('admin_jobs'),
    [t('job'), t('state'), t('created'), t('event_actor'), ...(isCluster ? [t('job_process')] : []), t('result')],
    all.map((job) => ({
      key: job.id, cells: [bdi(null, jobText(job)), jobBadge(job), formatMoment(job.created_at),
        bdi(null, actorText(job.actor)), ...(isCluster ? [bdi(null, job.process)] : []), resultOf(job)],
    })))
}

const Jobs = (): VNode => {
  const isFast = useSignal(false)
  const { state, reload } = useJobs(KINDS, isFast.value)
  const { run, error } = useAction()
  const jobs = state.value.data ?? []
  isFast.value = jobs.some(isRunning)
  const startJob = (body: StartJobRequest) => (): void =>
    run(async () => {
      await call('startJob', { body })
      reload()
    })
  return div(
    null,
    div(
      { class: 'actions' },
      button(
        { type: 'button', onClick: startJob({ kind: 'check' }), 'aria-describedby': 'check-hint' },
        t('run_check'),
      ),
      button({ type: 'button', onClick: startJob({ kind: 'rebuild' }), 'aria-describedby': 'rebuild-hint' },
        t('run_rebuild')),
      button({ type: 'button', onClick: startJob({ kind: 'verify' }) }, t('verify_all')),
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
