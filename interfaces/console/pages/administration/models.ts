import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { badge } from '../../components/badge.ts'
import { choice, textField } from '../../components/field.ts'
import { isRunning, runningJob, useJobs } from '../../components/job.ts'
import { listing } from '../../components/listing.ts'
import { problem, whenLoaded } from '../../components/problem.ts'
import { formatNumber, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction, useLoaded } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { bdi, button, details, div, form, h2, summary, view } from '../../ui/tags.ts'

const PRECISIONS = ['int8', 'fp32', 'fp16'] as const

interface InstallProps {
  readonly name: string
  readonly begun: () => void
}

const Install = ({ name: given, begun }: InstallProps): VNode => {
  const [name, precision] = [useSignal(given), useSignal('')]
  const { run, error, isRunning: isAsking } = useAction()
  const start = async (): Promise<void> => {
    const chosen = PRECISIONS.find((one) => one === precision.value)
    await call('startJob', { body: { kind: 'pull', subject: name.value.trim(), ...(chosen !== undefined && { precision: chosen }) } })
    begun()
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
      { id: 'install', text: t('install_name'), hint: t('install_hint'), problem: fieldProblems(error.value)['subject'] },
      name.value, (value) => (name.value = value), { required: true, spellcheck: false, autocapitalize: 'none' },
    ),
    choice({ id: 'precision', text: t('precision') }, precision.value, [['', t('precision_usual')], ...PRECISIONS.map((one) => [one, one] as const)], (one) =>
      (precision.value = one)),
    button({ type: 'submit', class: 'primary', disabled: isAsking.value }, t('install')),
    problem(error.value),
  )
}

const ALL = { query: { limit: 1000 } }

const loadAll = async () => {
  const [models, languages, pairs] = await Promise.all([call('listModels', ALL), call('listLanguages', ALL), call('listTranslations', ALL)])
  return { models: models.data, languages: languages.data, pairs: pairs.data }
}

const Models = ({ install }: { readonly install: string }): VNode => {
  const isFast = useSignal(false)
  const jobs = useJobs(['pull', 'verify'], isFast.value)
  const known = jobs.state.value.data ?? []
  const running = known.filter(isRunning)
  // A job that has ended may have changed what is installed.
  const { state, reload } = useLoaded(loadAll, known.filter((job) => !isRunning(job)).map(({ id }) => id).join())
  isFast.value = running.length > 0
  const { run, error } = useAction()
  const act = (name: string, text: string, ask: () => Promise<unknown>, after = reload): VNode =>
    button({ type: 'button', 'aria-label': `${text}: ${name}`, onClick: () => run(() => ask().then(after)) }, text)
  const turn = (name: string, isActive: boolean, ask: (body: { readonly is_active: boolean }) => Promise<unknown>): VNode =>
    act(name, t(isActive ? 'switch_off' : 'switch_on'), () => ask({ is_active: !isActive }))
  const stateOf = (isActive: boolean): VNode => (isActive ? badge('good', '✓', t('model_on')) : badge('muted', '○', t('model_off')))
  return div(
    null,
    h2(null, t('install_title')),
    view(Install)({ name: install, begun: jobs.reload }),
    ...running.map((job) => runningJob({ job, reload: jobs.reload, key: job.id })),
    problem(error.value),
    h2(null, t('installed_models')),
    whenLoaded(state.value, reload, ({ models, languages, pairs }) =>
      div(
        null,
        listing(t('installed_models'), [t('model'), t('state'), t('memory_mb'), t('change')], models.map(({ id, name, active, vram }) => ({
          key: id,
          cells: [
            bdi(null, name), stateOf(active), formatNumber(vram),
            div(
              { class: 'actions' },
              turn(name, active, (body) => call('switchModel', { path: { id }, body })),
              active ? act(name, t('verify'), () => call('startJob', { body: { kind: 'verify', subject: name } }), jobs.reload) : null,
            ),
          ],
        }))),
        h2(null, t('pairs')),
        listing(t('pairs'), [t('pair'), t('model'), t('state'), t('memory_mb'), t('change')], pairs.map(({ id, model, active, vram, lang_from: from, lang_to: to }) => ({
          key: id,
          cells: [
            `${from.iso_639_1} → ${to.iso_639_1}`, bdi(null, model), stateOf(active), formatNumber(vram),
            turn(model, active, (body) => call('switchTranslation', { path: { id }, body })),
          ],
        }))),
        details(
          null,
          summary(null, t('spoken_languages')),
          listing(t('spoken_languages'), [t('language'), t('state'), t('change')], languages.map(({ id, name, active }) => ({
            key: id, cells: [name, stateOf(active), turn(name, active, (body) => call('switchLanguage', { path: { id }, body }))],
          }))),
        ),
      )),
  )
}

export const modelsPage = view(Models)
