import type { VNode } from 'preact'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { t } from '../messages/texts.ts'
import { button, code, div, pre, span } from '../ui/tags.ts'
import { view } from '../ui/tags.ts'

interface CodeProps {
  readonly text: string
  /** What it is, for who does not see it. */
  readonly label: string
}

const Code = ({ text, label }: CodeProps): VNode => {
  const said = useSignal('')
  const element = useRef<HTMLElement>(null)
  const copy = async (): Promise<void> => {
    // Plain http has no clipboard: the text is selected for the keys.
    if (navigator.clipboard !== undefined && window.isSecureContext) {
      await navigator.clipboard.writeText(text)
      said.value = t('copied')
      return
    }
    if (element.current !== null) getSelection()?.selectAllChildren(element.current)
    said.value = t('select_to_copy')
  }
  return div(
    { class: 'code' },
    pre({ tabIndex: 0, role: 'region', 'aria-label': label }, code({ ref: element }, text)),
    div({ class: 'actions' }, button({ type: 'button', onClick: () => void copy() }, t('copy')),
      span({ role: 'status', class: 'hint' }, said.value)),
  )
}

/** Text to copy. */
export const codeBlock = view(Code)
