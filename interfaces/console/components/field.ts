import type { ComponentChildren, JSX, VNode } from 'preact'
import { type Data, div, input, label, option, p, select, span } from '../ui/tags.ts'

interface FieldProps {
  /** Unique on the page. Also the `name` of the element. */
  readonly id: string
  readonly text: string
  readonly hint?: string | undefined
  readonly problem?: string | undefined
}

interface ControlAttributes {
  readonly id: string
  readonly name: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': 'true' | undefined
}

/** Shows a control with label, hint and error message. `control` receives the attributes that connect them. */
export const field = (
  { id, text, hint, problem }: FieldProps,
  control: (attributes: ControlAttributes) => ComponentChildren,
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

/** Shows a text field of one line. */
export const textField = (
  props: FieldProps,
  value: string,
  onChange: (value: string) => void,
  attributes: InputAttributes = {},
): VNode =>
  field(props, (described) =>
    input(inputOf({
      type: 'text', ...attributes, ...described, value, onInput: ({ currentTarget }) => onChange(currentTarget.value),
    })))

/** Shows a select field. */
export const choice = (
  props: FieldProps,
  value: string,
  options: ReadonlyArray<readonly [value: string, text: string]>,
  onChange: (value: string) => void,
): VNode =>
  field(props, (described) =>
    select(
      { ...described, value, onChange: ({ currentTarget }) => onChange(currentTarget.value) },
      ...options.map(([key, text]) => option({ value: key, selected: key === value }, text)),
    ),
  )

export const checkbox = (
  id: string,
  text: string,
  checked: boolean,
  onChange: (checked: boolean) => void,
  disabled = false,
): VNode =>
  div(
    { class: 'check' },
    input({
      type: 'checkbox', id, name: id, checked, disabled,
      onChange: ({ currentTarget }) => onChange(currentTarget.checked),
    }),
    label({ for: id }, text),
  )
