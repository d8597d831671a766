import { h, type VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { div, h3, p } from '../ui/tags.ts'

const [WIDTH, HEIGHT] = [360, 60]

const pathOf = (values: ReadonlyArray<number>, maximum: number): string => {
  const step = WIDTH / Math.max(1, values.length - 1)
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${i * step} ${HEIGHT * (1 - value / maximum)}`).join('')
}

/** Shows lines over time, with the newest and greatest value of each line as text. */
export const chart = (title: string, lines: ReadonlyArray<ReadonlyArray<number>>): VNode => {
  const maximum = Math.max(1, ...lines.flat())
  const summary = lines.map((values) =>
    t('newest_value', { now: values.at(-1) ?? 0, most: Math.max(0, ...values) })).join('; ')
  return div(
    { class: 'chart' },
    h3(null, title),
    h(
      'svg', { viewBox: `-2 -2 ${WIDTH + 4} ${HEIGHT + 4}`, role: 'img', 'aria-label': `${title}: ${summary}`,
        preserveAspectRatio: 'none' },
      ...lines.map((values, i) =>
        h('path', { d: pathOf(values, maximum), key: i, 'vector-effect': 'non-scaling-stroke' })),
    ),
    p({ class: 'hint' }, summary),
  )
}
