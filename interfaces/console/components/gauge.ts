import type { VNode } from 'preact'
import type { Capacity } from '../../client/operations.ts'
import { formatNumber, t } from '../messages/texts.ts'
import { div, label, meter, span } from '../ui/tags.ts'

/** Shows the share of reserved memory. */
export const memoryGauge = (id: string, { vram_total: total, vram_reserved: used }: Capacity): VNode =>
  div(
    { class: 'status-line' },
    label({ for: id }, t('memory')),
    meter({ id, min: 0, max: Math.max(1, total), value: used }),
    span({ class: 'hint' }, t('memory_of', { used: formatNumber(used), total: formatNumber(total) })),
  )
