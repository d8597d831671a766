import type { VNode } from 'preact'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { t } from '../messages/texts.ts'
import { button, code, div, pre, span, view } from '../ui/tags.ts'

interface CodeProps {
  readonly text: string
  /** Description for screen readers. */
  readonly label: string
}

const Code = ({ text, label }: CodeProps): VNode => {
  const status = useSignal('')
  const element = useRef<HTMLElement>(null)
  const copy = async (): Promise<void> => {
    // On plain http browsers provide no clipboard. The text is selected, so the user can press Ctrl+C.
    if (navigator.clipboard !== undefined && window.isSecureContext) {
      await navigator.clipboard.writeText(text)
      status.value = t('copied')
      return
    }
    if (element.current !== null) getSelection()?.selectAllChildren(element.current)
    status.value = t('select_to_copy')
  }
  return div(
    { class: 'code' },
    pre({ tabIndex: 0, role: 'region', 'aria-label': label }, code({ ref: element }, text)),
    div({ class: 'actions' }, button({ type: 'button', onClick: () => void copy() }, t('copy')),
      span({ role: 'status', class: 'hint' }, status.value)),
  )
}

/** Shows text with a copy button. */
export const codeBlock = view(Code)
