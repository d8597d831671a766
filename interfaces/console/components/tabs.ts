import type { ComponentChildren, VNode } from 'preact'
import { button, div } from '../ui/tags.ts'

interface Tab {
  readonly id: string
  readonly text: string
}

/** Shows tabs with one open panel. The arrow keys open the neighbouring tabs. */
export const tabs = (
  label: string,
  all: ReadonlyArray<Tab>,
  open: string,
  choose: (id: string) => void,
  panel: ComponentChildren,
): VNode => {
  const step = (event: KeyboardEvent): void => {
    const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (direction === undefined) return
    const index = all.findIndex(({ id }) => id === open)
    const next = all[(index + direction + all.length) % all.length]
    if (next === undefined) return
    choose(next.id)
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  return div(
    { class: 'tabs' },
    div(
      { role: 'tablist', 'aria-label': label, onKeyDown: step },
      ...all.map(({ id, text }) =>
        button(
          {
            type: 'button', role: 'tab', id: `tab-${id}`, 'aria-selected': id === open, 'aria-controls': `panel-${id}`,
            tabIndex: id === open ? 0 : -1, onClick: () => choose(id),
          },
          text,
        ),
      ),
    ),
    div({ role: 'tabpanel', id: `panel-${open}`, 'aria-labelledby': `tab-${open}`, key: open }, panel),
  )
}
