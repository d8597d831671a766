import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { LiveSession } from '../../../client/operations.ts'
import { formatMoment, t } from '../../messages/texts.ts'
import { bdi, button, code, dd, div, dl, dt, view } from '../../ui/tags.ts'
import { languagesOf, sourceOf } from '../sessions.ts'

const DetailsTab = ({ live }: { readonly live: LiveSession }): VNode => {
  const isOpen = useSignal(false)
  const facts: ReadonlyArray<readonly [name: string, value: VNode | string]> = [
    [t('source'), bdi(null, live.audio_url ?? sourceOf(live))], [t('model'), bdi(null, live.model.name)],
    [t('languages'), languagesOf(live)],
    [t('created'), formatMoment(live.created_at)], [t('memory_mb'), String(live.vram)],
    [t('keep_text'), t(live.live_retention ? 'yes' : 'no')],
    ...Object.entries(live.config).map(([name, value]) => [name, bdi(null, String(value))] as const),
    ['sender_token', code(null, isOpen.value ? live.sender_token : t('hidden_token'))],
    ['listener_token', code(null, isOpen.value ? live.listener_token : t('hidden_token'))],
  ]
  return div(
    null,
    dl({ class: 'facts' },
      ...facts.flatMap(([name, value]) => [dt({ key: name }, name), dd({ key: `${name}-value` }, value)])),
    button({ type: 'button', 'aria-pressed': isOpen.value, onClick: () => (isOpen.value = !isOpen.value) },
      t(isOpen.value ? 'hide_tokens' : 'show_tokens')),
  )
}

export const detailsTab = view(DetailsTab)
