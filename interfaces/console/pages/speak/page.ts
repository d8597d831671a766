import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { AudioFeed } from '../../audio/source.ts'
import { lazyPart, whenLoaded } from '../../components/loading.ts'
import { t } from '../../messages/texts.ts'
import { end, failure, isRunning, phase, stop } from '../../speaking/run.ts'
import { fileAddress, goTo } from '../../state/address.ts'
import { withRetry, useLoaded } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { button, details, div, form, h1, p, summary, view } from '../../ui/tags.ts'
import { availableOptions, type Choices, loadChoices, requestOf, type SessionOptions } from './session-options.ts'
import { sessionOptionFields } from './session-option-fields.ts'
import { progressView } from './progress.ts'
import { sourceFields } from './source-fields.ts'

const openSource = async (options: SessionOptions, canSend: () => boolean): Promise<AudioFeed> => {
  if (options.source === 'microphone') {
    const { openMicrophone } = await withRetry(() => import('../../audio/microphone.ts'))
    return openMicrophone(options.device, options.reduceNoise)
  }
  const { openRecording } = await withRetry(() => import('../../audio/recording.ts'))
  if (options.source === 'sample') {
    const bytes = await (await fetch(fileAddress('sample.flac'))).arrayBuffer()
    return openRecording(bytes, { inRealTime: true, canSend })
  }
  if (options.file === null) throw new Error(t('file_missing'))
  return openRecording(await options.file.arrayBuffer(), { inRealTime: options.inRealTime, canSend })
}

const begin = async (options: SessionOptions): Promise<void> => {
  const request = requestOf(options)
  phase.value = 'asking'
  const { create, follow, speak } = await withRetry(() => import('../../speaking/speak.ts'))
  if (options.source === 'url') return follow(request)
  if (options.source !== 'program') return speak(request, (canSend) => openSource(options, canSend))
  const created = await create(request)
  if (created !== null) goTo(`sessions/${created.id}`)
}

const start = (options: SessionOptions): void => {
  begin(options).catch((error: unknown) => {
    failure.value = error
    phase.value = 'failed'
  })
}

/** Shows the problem of the last session; null without a problem. */
const Problem = ({ options }: { readonly options: SessionOptions }): VNode | null => {
  const [error, socketEnd] = [failure.value, end.value]
  if (error === null && (socketEnd === null || socketEnd.reason === 'finished')) return null
  return lazyPart(
    () => import('./session-problem.ts'),
    ({ sessionProblem }) => sessionProblem(error, socketEnd, () => start(options)),
  )
}

const SpeakForm = ({ choices }: { readonly choices: Choices }): VNode => {
  const options = availableOptions(choices)
  const problems = fieldProblems(failure.value)
  const isBusy = isRunning.value
  const isCodeOpen = useSignal(false)
  const toggle = isBusy
    ? button({ type: 'button', class: 'danger', onClick: stop, 'data-key': 'start',
      disabled: phase.value === 'finishing' }, `■ ${t('stop')}`)
    : button(
        { type: 'submit', class: 'primary', 'data-key': 'start' },
        options.source === 'program' ? t('create_session') : `● ${t('start')}`,
      )
  return div(
    { class: 'columns' },
    form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          start(options)
        },
      },
      sourceFields(options, problems),
      div({ class: 'actions start' }, toggle),
      sessionOptionFields(options, choices, problems),
    ),
    div(
      null,
      view(Problem)({ options }),
      progressView({}),
      details(
        { onToggle: ({ currentTarget }) => (isCodeOpen.value = currentTarget.open) },
        summary(null, t('code')),
        isCodeOpen.value ? lazyPart(() => import('./programs.ts'), ({ programs }) =>
          programs({ request: requestOf(options) })) : null,
      ),
    ),
  )
}

const Speak = (): VNode => {
  const { state, reload } = useLoaded(loadChoices, '')
  return div(
    null,
    h1({ tabIndex: -1 }, t('speak')),
    whenLoaded(state.value, reload, (choices) =>
      (choices.models.length === 0 ? p(null, t('no_models')) : view(SpeakForm)({ choices }))),
  )
}

export const speakPage = view(Speak)
