import type { ComponentChildren, VNode } from 'preact'
import type { Pagination } from '../../client/operations.ts'
import { t } from '../messages/texts.ts'
import { button, div, span, table, tbody, td, th, thead, tr } from '../ui/tags.ts'

interface Row {
  readonly key: string | number
  readonly cells: ReadonlyArray<ComponentChildren>
}

/** Shows a table. On narrow screens each row becomes a card, and each cell shows the name of its column. */
export const listing = (label: string, columns: ReadonlyArray<string>, rows: ReadonlyArray<Row>): VNode =>
  div(
    { class: 'table', role: 'region', 'aria-label': label, tabIndex: 0 },
    table(
      null,
      thead(null, tr(null, ...columns.map((column) => th({ scope: 'col' }, column)))),
      tbody(null, ...rows.map(({ key, cells }) =>
        tr({ key }, ...cells.map((cell, i) => td({ 'data-column': columns[i] ?? '' }, cell))))),
    ),
  )

/** Shows buttons for the previous and the next page. `go` receives the number of items to skip. */
export const pager = (
  { total_items: total, current_page: page, per_page: size }: Pagination,
  go: (skip: number) => void,
): VNode => {
  const from = (page - 1) * size
  const to = Math.min(from + size, total)
  return div(
    { class: 'pager' },
    button({ type: 'button', disabled: from === 0, 'aria-label': t('page_before'), onClick: () =>
      go(Math.max(0, from - size)) }, '‹'),
    span(null, t('page_of', { from: Math.min(from + 1, total), to, total })),
    button({ type: 'button', disabled: to >= total, 'aria-label': t('page_after'), onClick: () => go(from + size) },
      '›'),
  )
}
