import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { ApiError } from '../../client/client.ts'
import { problem } from '../components/loading.ts'
import { textField } from '../components/field.ts'
import { t } from '../messages/texts.ts'
import type { TextName } from '../messages/texts.ts'
import { callOpenly } from '../state/api.ts'
import { takeToken } from '../state/login.ts'
import { useAction } from '../state/loading.ts'
import { waitOf } from '../state/problems.ts'
import { button, form, view } from '../ui/tags.ts'

/** Logs in; all tabs get the token. */
export const logIn = async (username: string, password: string): Promise<void> => {
  const { access_token: token } = await callOpenly('login', { body: { username, password } })
  takeToken(token)
}

const isWrong = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** Counts down from what the service asked to wait. */
const useWait = (error: unknown): number => {
  const left = useSignal(0)
  useEffect(() => {
    left.value = waitOf(error)
    const timer = setInterval(() => {
      left.value = Math.max(0, left.value - 1)
    }, 1000)
    return () => clearInterval(timer)
  }, [error])
  return left.value
}

interface LogInProps {
  /** Who it was, where the form asks again. */
  readonly known?: string
}

const LogIn = ({ known = '' }: LogInProps): VNode => {
  const username = useSignal(known)
  const password = useSignal('')
  const { run, error, isRunning } = useAction()
  const wait = useWait(error.value)
  const wrong = isWrong(error.value) ? new Error(t('wrong_login')) : error.value
  return form(
    {
      class: 'credentials',
      onSubmit: (event) => {
        event.preventDefault()
        run(() => logIn(username.value, password.value))
      },
    },
    textField({ id: 'username', text: t('username') }, username.value, (value) => (username.value = value), {
      autocomplete: 'username', autocapitalize: 'none', spellcheck: false, required: true,
    }),
    textField({ id: 'password', text: t('password') }, password.value, (value) => (password.value = value), {
      type: 'password', autocomplete: 'current-password', required: true,
    }),
    problem(wait > 0 ? new Error(t('wait_seconds', { seconds: wait })) : wrong),
    button({ type: 'submit', class: 'primary', disabled: isRunning.value || wait > 0 }, t('log_in')),
  )
}

export const logInForm = view(LogIn)

interface Typed {
  readonly username: string
  readonly password: string
  readonly repeated: string
}

/** The first thing that is wrong with a new account: its field, and why. */
const complaint = ({ username, password, repeated }: Typed): readonly [field: string, text: TextName] | null => {
  const size = new TextEncoder().encode(password).length
  if (username === '') return ['username', 'username_missing']
  if (Array.from(username).length > 100) return ['username', 'username_long']
  if (size < 8) return ['password', 'password_short']
  if (size > 1024) return ['password', 'password_long']
  return password === repeated ? null : ['repeated', 'passwords_differ']
}

interface SetUpProps {
  readonly secret: string
  readonly done: () => void
}

const SetUp = ({ secret, done }: SetUpProps): VNode => {
  const typed = useSignal<Typed>({ username: '', password: '', repeated: '' })
  const wrong = useSignal<readonly [field: string, text: TextName] | null>(null)
  const { run, error, isRunning } = useAction()
  const { username, password, repeated } = typed.value
  const problemOf = (name: string): string | undefined => (wrong.value?.[0] === name ? t(wrong.value[1]) : undefined)
  const create = async (): Promise<void> => {
    await callOpenly('completeSetup', { body: { token: secret, username, password } })
    await logIn(username, password)
    done()
  }
  const refused = error.value instanceof ApiError && error.value.status === 403
  return form(
    {
      class: 'credentials',
      noValidate: true,
      onSubmit: (event) => {
        event.preventDefault()
        wrong.value = complaint(typed.value)
        if (wrong.value === null) run(create)
        else document.getElementById(wrong.value[0])?.focus()
      },
    },
    textField(
      { id: 'username', text: t('username'), hint: t('username_hint'), problem: problemOf('username') },
      username, (value) => (typed.value = { ...typed.value, username: value }),
      { autocomplete: 'username', autocapitalize: 'none', spellcheck: false },
    ),
    textField(
      { id: 'password', text: t('password'), hint: t('password_hint'), problem: problemOf('password') },
      password, (value) => (typed.value = { ...typed.value, password: value }),
      { type: 'password', autocomplete: 'new-password' },
    ),
    textField(
      { id: 'repeated', text: t('password_again'), problem: problemOf('repeated') },
      repeated, (value) => (typed.value = { ...typed.value, repeated: value }),
      { type: 'password', autocomplete: 'new-password' },
    ),
    problem(refused ? new Error(t('set_up_refused')) : error.value),
    button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('set_up_button')),
  )
}

export const setUpForm = view(SetUp)
