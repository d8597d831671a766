import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { button, dialog, div, h2 } from '../ui/tags.ts'
import { view } from '../ui/tags.ts'
import { t } from '../messages/texts.ts'

interface DialogProps {
  readonly title: string
  readonly children?: ComponentChildren
  /** Esc and the button at the end; without it the dialog stays until what it asks for is there. */
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

/** A dialog over the page, open for as long as it is part of it. */
export const modal = view(Dialog)
