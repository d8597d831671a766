import type { ComponentChildren, JSX, VNode } from 'preact'
import type { Data } from '../ui/tags.ts'
import { input, div, label, option, p, select, span } from '../ui/tags.ts'

interface FieldProps {
  /** Unique on the page; `name` of the element as well. */
  readonly id: string
  readonly text: string
  readonly hint?: string | undefined
  readonly problem?: string | undefined
}

interface Described {
  readonly id: string
  readonly name: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': 'true' | undefined
}

/** A label, what is typed into, a hint and what is wrong with it; `control` gets the attributes that connect them. */
export const field = (
  { id, text, hint, problem }: FieldProps,
  control: (attributes: Described) => ComponentChildren,
): VNode => {
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(problem === undefined ? [] : [`${id}-problem`])]
  return div(
    { class: 'field' },
    label({ for: id }, text),
    control({
      id,
      name: id,
      'aria-describedby': described.length === 0 ? undefined : described.join(' '),
      'aria-invalid': problem === undefined ? undefined : 'true',
    }),
    hint === undefined ? null : p({ class: 'hint', id: `${id}-hint` }, hint),
    problem === undefined ? null
      : p({ class: 'problem', id: `${id}-problem` }, span({ 'aria-hidden': true }, '! '), problem),
  )
}

type InputAttributes = Omit<JSX.IntrinsicElements['input'], 'type'> & Data & {
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'color' | 'date'
}

const inputOf = (attributes: InputAttributes): JSX.IntrinsicElements['input'] =>
  attributes as JSX.IntrinsicElements['input']

/** A field of one line; `take` gets what was typed. */
export const textField = (
  props: FieldProps,
  value: string,
  take: (value: string) => void,
  attributes: InputAttributes = {},
): VNode =>
  field(props, (described) =>
    input(inputOf({
      type: 'text', ...attributes, ...described, value, onInput: ({ currentTarget }) => take(currentTarget.value),
    })))

/** One of several. */
export const choice = (
  props: FieldProps,
  value: string,
  options: ReadonlyArray<readonly [value: string, text: string]>,
  take: (value: string) => void,
): VNode =>
  field(props, (described) =>
    select(
      { ...described, value, onChange: ({ currentTarget }) => take(currentTarget.value) },
      ...options.map(([one, text]) => option({ value: one, selected: one === value }, text)),
    ),
  )

/** A switch. */
export const checkbox = (
  id: string,
  text: string,
  checked: boolean,
  take: (checked: boolean) => void,
  disabled = false,
): VNode =>
  div(
    { class: 'check' },
    input({
      type: 'checkbox', id, name: id, checked, disabled, onChange: ({ currentTarget }) => take(currentTarget.checked),
    }),
    label({ for: id }, text),
  )
