import { h } from 'preact'
import type { VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { div, h3, p } from '../ui/tags.ts'

const [WIDTH, HEIGHT] = [360, 60]

const pathOf = (values: ReadonlyArray<number>, most: number): string => {
  const step = WIDTH / Math.max(1, values.length - 1)
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${i * step} ${HEIGHT * (1 - value / most)}`).join('')
}

/** Lines over time, each told in words too; the figures stand in a table beside it. */
export const chart = (title: string, lines: ReadonlyArray<ReadonlyArray<number>>): VNode => {
  const most = Math.max(1, ...lines.flat())
  const said = lines.map((values) =>
    t('newest_value', { now: values.at(-1) ?? 0, most: Math.max(0, ...values) })).join('; ')
  return div(
    { class: 'chart' },
    h3(null, title),
    h(
      'svg', { viewBox: `-2 -2 ${WIDTH + 4} ${HEIGHT + 4}`, role: 'img', 'aria-label': `${title}: ${said}`,
        preserveAspectRatio: 'none' },
      ...lines.map((values, i) =>
        h('path', { d: pathOf(values, most), key: i, 'vector-effect': 'non-scaling-stroke' })),
    ),
    p({ class: 'hint' }, said),
  )
}
