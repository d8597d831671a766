import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { ApiError } from '../../client/client.ts'
import { checkbox, choice, textField } from '../components/field.ts'
import { problem } from '../components/loading.ts'
import { toast } from '../components/toast.ts'
import { t } from '../messages/texts.ts'
import { call, callAnonymously, logOut } from '../state/api.ts'
import { useAction } from '../state/loading.ts'
import { takeToken, user } from '../state/login.ts'
import { prefer, preferences } from '../state/preferences.ts'
import { fieldProblems } from '../state/problems.ts'
import { bdi, button, dd, div, dl, dt, form, h1, h2, input, p, section, view } from '../ui/tags.ts'

const Password = (): VNode => {
  const [current, next, repeated, isDifferent] = [useSignal(''), useSignal(''), useSignal(''), useSignal(false)]
  const { run, error, isRunning } = useAction()
  const username = user.value?.username ?? ''
  const problems = fieldProblems(error.value)
  const isWrong = error.value instanceof ApiError && error.value.status === 400
  const change = async (): Promise<void> => {
    await call('changeMyPassword', { body: { current_password: current.value, new_password: next.value } })
    // A new password ends all logins, including this login.
    takeToken((await callAnonymously('login', { body: { username, password: next.value } })).access_token)
    for (const field of [current, next, repeated]) field.value = ''
    toast(t('password_changed'))
  }
  return form(
    {
      onSubmit: (event) => {
        event.preventDefault()
        isDifferent.value = next.value !== repeated.value
        if (!isDifferent.value) run(change)
      },
    },
    // Password managers need the username to store the new password.
    input({ type: 'text', autocomplete: 'username', value: username, hidden: true, readOnly: true }),
    textField(
      { id: 'current', text: t('current_password'),
        problem: isWrong ? t('wrong_password') : problems['current_password'] },
      current.value, (value) => (current.value = value),
      { type: 'password', autocomplete: 'current-password', required: true },
    ),
    textField({ id: 'next', text: t('new_password'), hint: t('password_hint'), problem: problems['new_password'] },
      next.value, (value) => (next.value = value), {
      type: 'password', autocomplete: 'new-password', required: true, minLength: 8,
    }),
    textField({ id: 'again', text: t('new_password_again'), problem: isDifferent.value ? t('passwords_differ')
      : undefined }, repeated.value, (value) => (repeated.value = value), {
      type: 'password', autocomplete: 'new-password', required: true,
    }),
    isWrong ? null : problem(error.value),
    button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('change_password')),
  )
}

const THEMES = ['auto', 'light', 'dark'] as const

const Appearance = (): VNode => {
  const { theme, captionSize, singleKeys } = preferences.value
  return div(
    null,
    choice({ id: 'theme', text: t('theme') }, theme, THEMES.map((name) => [name, t(`theme_${name}`)]), (chosen) =>
      prefer({ theme: THEMES.find((name) => name === chosen) ?? 'auto' })),
    textField({ id: 'caption-size', text: t('caption_size') }, String(captionSize), (value) =>
      prefer({ captionSize: Math.min(48, Math.max(16, Number(value) || 20)) }), {
      type: 'number', min: 16, max: 48,
    }),
    checkbox('single-keys', t('single_keys'), singleKeys, (checked) => prefer({ singleKeys: checked })),
  )
}

const Account = (): VNode => {
  const { run, error } = useAction()
  const permissions = user.value?.permissions.map((permission) => t(`permission_${permission}`)) ?? []
  const facts = [
    [t('username'), user.value?.username ?? ''],
    [t('permissions'), permissions.length === 0 ? t('permission_none') : permissions.join(', ')],
    [t('quota_sessions'), String(user.value?.max_sessions ?? '')],
    [t('quota_translations'), String(user.value?.max_translations ?? '')],
  ] as const
  return div(
    null,
    h1({ tabIndex: -1 }, t('account')),
    dl({ class: 'facts' },
      ...facts.flatMap(([name, value]) => [dt({ key: name }, name), dd({ key: `${name}-value` }, bdi(null, value))])),
    section(null, h2(null, t('appearance')), view(Appearance)({})),
    section(null, h2(null, t('change_password')), view(Password)({})),
    section(
      null,
      h2(null, t('log_out_everywhere')),
      p(null, t('log_out_everywhere_text')),
      problem(error.value),
      button({ type: 'button', class: 'danger', onClick: () => run(() => logOut(true)) }, t('log_out_everywhere')),
    ),
  )
}

export const accountPage = view(Account)
