import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { codeBlock } from '../../components/code.ts'
import { modal } from '../../components/dialog.ts'
import { choice, textField } from '../../components/field.ts'
import { problem } from '../../components/loading.ts'
import { t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { button, div, form, p, view } from '../../ui/tags.ts'

const DAY_MS = 86_400_000
const EXPIRY_DAYS = ['30', '90', '365']

/** Returns the expiry time for the chosen value; null for never. */
const expiryOf = (chosen: string, date: string): string | null => {
  if (chosen === 'never') return null
  return chosen === 'date' ? new Date(`${date}T23:59:59`).toISOString()
    : new Date(Date.now() + Number(chosen) * DAY_MS).toISOString()
}

interface NewTokenProps {
  readonly close: () => void
  readonly created: () => void
}

const NewToken = ({ close, created }: NewTokenProps): VNode => {
  const [name, expiry, date, secret] = [useSignal(''), useSignal('90'), useSignal(''), useSignal<string | null>(null)]
  const { run, error, isRunning } = useAction()
  const problems = fieldProblems(error.value)
  if (secret.value !== null) {
    const stored = { title: t('secret_title'), close, closeText: t('secret_stored') }
    return modal({ ...stored, key: 'secret',
      children: [p(null, t('secret_text')), codeBlock({ text: secret.value, label: t('secret_title') })] })
  }
  const create = async (): Promise<void> => {
    const { data } = await call('createToken',
      { body: { name: name.value, expires_at: expiryOf(expiry.value, date.value) } })
    secret.value = data.token
    created()
  }
  return modal({
    title: t('new_token'),
    close,
    closeText: t('cancel'),
    key: 'form',
    children: form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          run(create)
        },
      },
      textField({ id: 'token-name', text: t('token_name'), problem: problems['name'] }, name.value, (value) =>
        (name.value = value), { required: true }),
      choice(
        { id: 'expiry', text: t('expiry'), problem: problems['expires_at'] }, expiry.value,
        [['never', t('expiry_never')], ...EXPIRY_DAYS.map((days) => [days, t('expiry_days', { days })] as const),
          ['date', t('expiry_date')]],
        (value) => (expiry.value = value),
      ),
      expiry.value === 'date'
        ? textField({ id: 'expiry-date', text: t('expiry_on') }, date.value, (value) => (date.value = value),
          { type: 'date', required: true }) : null,
      problem(error.value),
      div({ class: 'actions' }, button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('create'))),
    ),
  })
}

/** Shows the form that creates a token, then its secret. */
export const newToken = view(NewToken)
