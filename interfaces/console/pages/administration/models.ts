import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { AdminModel, Job } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { modal } from '../../components/dialog.ts'
import { choice, textField } from '../../components/field.ts'
import { endedJob, isRunning, runningJob, useJobs } from '../../components/job.ts'
import { listing } from '../../components/listing.ts'
import { problem, whenLoaded } from '../../components/loading.ts'
import { formatNumber, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction, useLoaded } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { bdi, button, details, div, form, h2, p, summary, view } from '../../ui/tags.ts'

const PRECISIONS = ['int8', 'fp32', 'fp16'] as const

interface InstallProps {
  readonly name: string
  readonly begun: (job: Job) => void
}

const Install = ({ name: given, begun }: InstallProps): VNode => {
  const [name, precision] = [useSignal(given), useSignal('')]
  const { run, error, isRunning: isAsking } = useAction()
  const start = async (): Promise<void> => {
    const chosen = PRECISIONS.find((one) => one === precision.value)
    const { data } = await call('startJob',
      { body: { kind: 'pull', subject: name.value.trim(), ...(chosen !== undefined && { precision: chosen }) } })
    begun(data)
  }
  return form(
    {
      class: 'filters',
      onSubmit: (event) => {
        event.preventDefault()
        run(start)
      },
    },
    textField(
      { id: 'install', text: t('install_name'), hint: t('install_hint'),
        problem: fieldProblems(error.value)['subject'] },
      name.value, (value) => (name.value = value), { required: true, spellcheck: false, autocapitalize: 'none' },
    ),
    choice({ id: 'precision', text: t('precision') }, precision.value,
      [['', t('precision_usual')], ...PRECISIONS.map((one) => [one, one] as const)], (one) =>
      (precision.value = one)),
    button({ type: 'submit', class: 'primary', disabled: isAsking.value }, t('install')),
    problem(error.value),
  )
}

const ALL = { query: { limit: 1000 } }

const loadAll = async () => {
  const [models, languages, pairs] = await Promise.all([
    call('listAdminModels', ALL), call('listLanguages', ALL), call('listAdminTranslations', ALL),
  ])
  return { models: models.data, languages: languages.data, pairs: pairs.data }
}

type Installed = Pick<AdminModel, 'active' | 'installed' | 'loads' | 'bytes' | 'open_lives' | 'ships'>

const activity = (isActive: boolean): VNode =>
  (isActive ? badge('good', '✓', t('model_on')) : badge('muted', '○', t('model_off')))

const stateOf = ({ active, installed, loads }: Installed): VNode => {
  if (!installed) return badge('muted', '○', t('not_installed'))
  return loads === false ? badge('bad', '!', t('does_not_load')) : activity(active)
}

const sizeOf = ({ bytes }: Installed): string => (bytes === null ? '–' : formatNumber(Math.round(bytes / 1_000_000)))

interface Removal {
  readonly name: string
  readonly remove: () => Promise<unknown>
}

const Remove = ({ name, remove, close }: Removal & { readonly close: () => void }): VNode => {
  const { run, error } = useAction()
  return modal({
    title: t('remove_title', { name }), close, closeText: t('cancel'),
    children: [
      p(null, t('remove_text')), problem(error.value),
      div({ class: 'actions' },
        button({ type: 'button', class: 'danger', onClick: () => run(() => remove().then(close)) }, t('remove'))),
    ],
  })
}

const Models = ({ install }: { readonly install: string }): VNode => {
  const isFast = useSignal(false)
  const removed = useSignal<Removal | null>(null)
  const jobs = useJobs(['pull', 'verify'], isFast.value)
  const known = jobs.state.value.data ?? []
  const running = known.filter(isRunning)
  // Jobs that ended before this page was opened are told on the page of jobs.
  const followed = useRef(new Set<number>()).current
  for (const { id } of running) followed.add(id)
  const ended = known.find((job) => followed.has(job.id) && !isRunning(job))
  // A job that has ended may have changed what is installed.
  const { state, reload } = useLoaded(loadAll, known.filter((job) => !isRunning(job)).map(({ id }) => id).join())
  isFast.value = running.length > 0
  const follow = ({ id }: Job): void => {
    followed.add(id)
    jobs.reload()
  }
  const { run, error } = useAction()
  const act = (name: string, text: string, ask: () => Promise<unknown>, after = reload): VNode =>
    button({ type: 'button', 'aria-label': `${text}: ${name}`, onClick: () => run(() => ask().then(after)) }, text)
  type Turn = (body: { readonly is_active: boolean }) => Promise<unknown>
  const turn = (name: string, isActive: boolean, ask: Turn): VNode =>
    act(name, t(isActive ? 'switch_off' : 'switch_on'), () => ask({ is_active: !isActive }))
  const begin = (name: string, text: string, kind: 'pull' | 'verify'): VNode =>
    act(name, text, async () => follow((await call('startJob', { body: { kind, subject: name } })).data),
      () => undefined)
  const remover = (name: string, { installed, ships }: Installed, remove: () => Promise<unknown>): VNode | null =>
    installed && !ships
      ? button({
          type: 'button', class: 'danger', 'aria-label': `${t('remove')}: ${name}`,
          onClick: () => (removed.value = { name, remove: () => remove().then(() => followed.clear()).then(reload) }),
        }, t('remove'))
      : null
  return div(
    null,
    h2(null, t('install_title')),
    view(Install)({ name: install, begun: follow }),
    ...running.map((job) => runningJob({ job, reload: jobs.reload, key: job.id })),
    ended === undefined || running.length > 0 ? null : endedJob(ended),
    problem(error.value),
    h2(null, t('installed_models')),
    whenLoaded(state.value, reload, ({ models, languages, pairs }) =>
      div(
        null,
        listing(t('installed_models'),
          [t('model'), t('state'), t('memory_mb'), t('size'), t('open_lives'), t('change')],
          models.toSorted((one, other) => Number(other.installed) - Number(one.installed)).map((model) => ({
          key: model.id,
          cells: [
            bdi(null, model.name), stateOf(model), formatNumber(model.vram), sizeOf(model), String(model.open_lives),
            div(
              { class: 'actions' },
              ...(model.installed
                ? [turn(model.name, model.active, (body) => call('switchModel', { path: { id: model.id }, body })),
                  begin(model.name, t('verify'), 'verify')]
                : [begin(model.name, t('install'), 'pull')]),
              remover(model.name, model, () => call('removeModel', { path: { id: model.id } })),
            ),
          ],
        }))),
        h2(null, t('pairs')),
        listing(t('pairs'), [t('pair'), t('model'), t('state'), t('memory_mb'), t('size'), t('open_lives'),
          t('change')], pairs.map((pair) => ({
          key: pair.id,
          cells: [
            pair.languages.join(' → '), bdi(null, pair.model), stateOf(pair), formatNumber(pair.vram), sizeOf(pair),
            String(pair.open_lives),
            div(
              { class: 'actions' },
              pair.installed ? turn(pair.model, pair.active, (body) =>
                call('switchTranslation', { path: { id: pair.id }, body })) : null,
              remover(pair.model, pair, () => call('removeTranslation', { path: { id: pair.id } })),
            ),
          ],
        }))),
        details(
          null,
          summary(null, t('spoken_languages')),
          listing(t('spoken_languages'), [t('language'), t('state'), t('change')],
            languages.map(({ id, name, active }) => ({
            key: id, cells: [name, activity(active),
              turn(name, active, (body) => call('switchLanguage', { path: { id }, body }))],
          }))),
        ),
      )),
    removed.value === null ? null : view(Remove)({ ...removed.value, close: () => (removed.value = null) }),
  )
}

export const modelsPage = view(Models)
