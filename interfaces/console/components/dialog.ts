import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { button, dialog, div, h2, view } from '../ui/tags.ts'
import { t } from '../messages/texts.ts'

interface DialogProps {
  readonly title: string
  readonly children?: ComponentChildren
  /** Called by Esc and by the button at the end. Without it the user cannot close the dialog. */
  readonly close?: (() => void) | undefined
  readonly closeText?: string
}

const Dialog = ({ title, children, close, closeText = t('close') }: DialogProps): VNode => {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => element.current?.showModal(), [])
  return dialog(
    {
      ref: element,
      'aria-labelledby': 'dialog-title',
      onCancel: (event) => {
        event.preventDefault()
        close?.()
      },
    },
    h2({ id: 'dialog-title' }, title),
    children,
    close === undefined ? null : div({ class: 'actions' }, button({ type: 'button', onClick: close }, closeText)),
  )
}

/** Shows a modal dialog while it is part of the page. */
export const modal = view(Dialog)
