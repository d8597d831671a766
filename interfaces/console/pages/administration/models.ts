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
  readonly onStarted: (job: Job) => void
}

const Install = ({ name: initialName, onStarted }: InstallProps): VNode => {
  const [name, precision] = [useSignal(initialName), useSignal('')]
  const { run, error, isRunning: isAsking } = useAction()
  const start = async (): Promise<void> => {
    const chosen = PRECISIONS.find((known) => known === precision.value)
    const { data } = await call('startJob',
      { body: { kind: 'pull', subject: name.value.trim(), ...(chosen !== undefined && { precision: chosen }) } })
    onStarted(data)
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
      [['', t('precision_usual')], ...PRECISIONS.map((known) => [known, known] as const)], (chosen) =>
      (precision.value = chosen)),
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

const activeBadge = (isActive: boolean): VNode =>
  (isActive ? badge('good', '✓', t('model_on')) : badge('muted', '○', t('model_off')))

const stateOf = ({ active, installed, loads }: Installed): VNode => {
  if (!installed) return badge('muted', '○', t('not_installed'))
  return loads === false ? badge('bad', '!', t('does_not_load')) : activeBadge(active)
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
  const removal = useSignal<Removal | null>(null)
  const jobs = useJobs(['pull', 'verify'], isFast.value)
  const latest = jobs.state.value.data ?? []
  const running = latest.filter(isRunning)
  // Show results only of jobs that ran while this page was open. The page Jobs lists the older jobs.
  const followed = useRef(new Set<number>()).current
  for (const { id } of running) followed.add(id)
  const ended = latest.find((job) => followed.has(job.id) && !isRunning(job))
  // An ended job may have changed the installed models, so its id is part of the key and reloads the list.
  const { state, reload } = useLoaded(loadAll, latest.filter((job) => !isRunning(job)).map(({ id }) => id).join())
  isFast.value = running.length > 0
  const follow = ({ id }: Job): void => {
    followed.add(id)
    jobs.reload()
  }
  const { run, error } = useAction()
  const actionButton = (name: string, text: string, action: () => Promise<unknown>, after = reload): VNode =>
    button({ type: 'button', 'aria-label': `${text}: ${name}`, onClick: () => run(() => action().then(after)) }, text)
  type SetActive = (body: { readonly is_active: boolean }) => Promise<unknown>
  const activeButton = (name: string, isActive: boolean, setActive: SetActive): VNode =>
    actionButton(name, t(isActive ? 'switch_off' : 'switch_on'), () => setActive({ is_active: !isActive }))
  const jobButton = (name: string, text: string, kind: 'pull' | 'verify'): VNode =>
    actionButton(name, text, async () => follow((await call('startJob', { body: { kind, subject: name } })).data),
      () => undefined)
  const removeButton = (name: string, { installed, ships }: Installed, remove: () => Promise<unknown>): VNode | null =>
    installed && !ships
      ? button({
          type: 'button', class: 'danger', 'aria-label': `${t('remove')}: ${name}`,
          onClick: () => (removal.value = { name, remove: () => remove().then(() => followed.clear()).then(reload) }),
        }, t('remove'))
      : null
  return div(
    null,
    h2(null, t('install_title')),
    view(Install)({ name: install, onStarted: follow }),
    ...running.map((job) => runningJob({ job, reload: jobs.reload, key: job.id })),
    ended === undefined || running.length > 0 ? null : endedJob(ended),
    problem(error.value),
    h2(null, t('installed_models')),
    whenLoaded(state.value, reload, ({ models, languages, pairs }) =>
      div(
        null,
        listing(t('installed_models'),
          [t('model'), t('state'), t('memory_mb'), t('size'), t('open_lives'), t('change')],
          models.toSorted((a, b) => Number(b.installed) - Number(a.installed)).map((model) => ({
          key: model.id,
          cells: [
            bdi(null, model.name), stateOf(model), formatNumber(model.vram), sizeOf(model), String(model.open_lives),
            div(
              { class: 'actions' },
              ...(model.installed
                ? [
                    activeButton(model.name, model.active, (body) =>
                      call('switchModel', { path: { id: model.id }, body })),
                    jobButton(model.name, t('verify'), 'verify'),
                  ]
                : [jobButton(model.name, t('install'), 'pull')]),
              removeButton(model.name, model, () => call('removeModel', { path: { id: model.id } })),
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
              pair.installed ? activeButton(pair.model, pair.active, (body) =>
                call('switchTranslation', { path: { id: pair.id }, body })) : null,
              removeButton(pair.model, pair, () => call('removeTranslation', { path: { id: pair.id } })),
            ),
          ],
        }))),
        details(
          null,
          summary(null, t('spoken_languages')),
          listing(t('spoken_languages'), [t('language'), t('state'), t('change')],
            languages.map(({ id, name, active }) => ({
            key: id, cells: [name, activeBadge(active),
              activeButton(name, active, (body) => call('switchLanguage', { path: { id }, body }))],
          }))),
        ),
      )),
    removal.value === null ? null
      : view(Remove)({ ...removal.value, close: () => (removal.value = null) }),
  )
}

export const modelsPage = view(Models)
