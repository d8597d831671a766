import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { AudioFeed } from '../../audio/source.ts'
import { loadedLate, whenLoaded } from '../../components/loading.ts'
import { t } from '../../messages/texts.ts'
import { end, failure, isRunning, phase, stop } from '../../speaking/run.ts'
import { fileAddress, goTo } from '../../state/address.ts'
import { inTwoTries, useLoaded } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { button, details, div, form, h1, p, summary, view } from '../../ui/tags.ts'
import { loadChoices, orderOf, requestOf } from './order.ts'
import type { Choices, Order } from './order.ts'
import { orderFields } from './order-fields.ts'
import { progressView } from './progress.ts'
import { sourceFields } from './source-fields.ts'

const opened = async (order: Order, mayGoOn: () => boolean): Promise<AudioFeed> => {
  if (order.source === 'microphone') {
    const { openMicrophone } = await inTwoTries(() => import('../../audio/microphone.ts'))
    return openMicrophone(order.device, order.reduceNoise)
  }
  const { openRecording } = await inTwoTries(() => import('../../audio/recording.ts'))
  if (order.source === 'sample') {
    const bytes = await (await fetch(fileAddress('sample.flac'))).arrayBuffer()
    return openRecording(bytes, { inRealTime: true, mayGoOn })
  }
  if (order.file === null) throw new Error(t('file_missing'))
  return openRecording(await order.file.arrayBuffer(), { inRealTime: order.inRealTime, mayGoOn })
}

const begin = async (order: Order): Promise<void> => {
  const request = requestOf(order)
  phase.value = 'asking'
  const { create, follow, speak } = await inTwoTries(() => import('../../speaking/speak.ts'))
  if (order.source === 'url') return follow(request)
  if (order.source !== 'program') return speak(request, (mayGoOn) => opened(order, mayGoOn))
  const created = await create(request)
  if (created !== null) goTo(`sessions/${created.id}`)
}

const start = (order: Order): void => {
  begin(order).catch((error: unknown) => {
    failure.value = error
    phase.value = 'failed'
  })
}

/** Nothing, where all is well. */
const Trouble = ({ order }: { readonly order: Order }): VNode | null => {
  const [error, over] = [failure.value, end.value]
  if (error === null && (over === null || over.reason === 'finished')) return null
  return loadedLate(() => import('./trouble.ts'), ({ trouble }) => trouble(error, over, () => start(order)))
}

const Order = ({ choices }: { readonly choices: Choices }): VNode => {
  const order = orderOf(choices)
  const problems = fieldProblems(failure.value)
  const isBusy = isRunning.value
  const isCodeOpen = useSignal(false)
  const toggle = isBusy
    ? button({ type: 'button', class: 'danger', onClick: stop, 'data-key': 'start',
      disabled: phase.value === 'finishing' }, `■ ${t('stop')}`)
    : button({ type: 'submit', class: 'primary', 'data-key': 'start' }, order.source === 'program' ? t('create_session')
      : `● ${t('start')}`)
  return div(
    { class: 'columns' },
    form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          start(order)
        },
      },
      sourceFields(order, problems),
      div({ class: 'actions start' }, toggle),
      orderFields(order, choices, problems),
    ),
    div(
      null,
      view(Trouble)({ order }),
      progressView({}),
      details(
        { onToggle: ({ currentTarget }) => (isCodeOpen.value = currentTarget.open) },
        summary(null, t('code')),
        isCodeOpen.value ? loadedLate(() => import('./programs.ts'), ({ programs }) =>
          programs({ request: requestOf(order) })) : null,
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
      (choices.models.length === 0 ? p(null, t('no_models')) : view(Order)({ choices }))),
  )
}

export const speakPage = view(Speak)
