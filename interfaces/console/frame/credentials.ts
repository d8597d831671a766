import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { ApiError } from '../../client/client.ts'
import { problem } from '../components/loading.ts'
import { textField } from '../components/field.ts'
import { t, type TextName } from '../messages/texts.ts'
import { callAnonymously } from '../state/api.ts'
import { takeToken } from '../state/login.ts'
import { useAction } from '../state/loading.ts'
import { fieldProblems, waitOf } from '../state/problems.ts'
import { button, form, view } from '../ui/tags.ts'

/** Logs in and shares the token with all tabs. */
export const logIn = async (username: string, password: string): Promise<void> => {
  const { access_token: token } = await callAnonymously('login', { body: { username, password } })
  takeToken(token)
}

const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** Returns the remaining seconds until the service allows another try. */
const useWaitSeconds = (error: unknown): number => {
  const remaining = useSignal(0)
  useEffect(() => {
    remaining.value = waitOf(error)
    const timer = setInterval(() => {
      remaining.value = Math.max(0, remaining.value - 1)
    }, 1000)
    return () => clearInterval(timer)
  }, [error])
  return remaining.value
}

interface LogInProps {
  /** The user of the ended login, when the form appears over a page. */
  readonly initialUsername?: string
}

const LogIn = ({ initialUsername = '' }: LogInProps): VNode => {
  const username = useSignal(initialUsername)
  const password = useSignal('')
  const { run, error, isRunning } = useAction()
  const wait = useWaitSeconds(error.value)
  const loginError = isUnauthorized(error.value) ? new Error(t('wrong_login')) : error.value
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
    problem(wait > 0 ? new Error(t('wait_seconds', { seconds: wait })) : loginError),
    button({ type: 'submit', class: 'primary', disabled: isRunning.value || wait > 0 }, t('log_in')),
  )
}

export const logInForm = view(LogIn)

interface AccountForm {
  readonly username: string
  readonly password: string
  readonly repeated: string
}

type FieldProblem = readonly [field: string, text: TextName]

/** Returns the first invalid field of a new account; null when all fields are valid. */
const firstProblem = ({ username, password, repeated }: AccountForm): FieldProblem | null => {
  if (username === '') return ['username', 'username_missing']
  if (Array.from(username).length > 100) return ['username', 'username_long']
  if (Array.from(password).length < 8) return ['password', 'password_short']
  if (new TextEncoder().encode(password).length > 1024) return ['password', 'password_long']
  return password === repeated ? null : ['repeated', 'passwords_differ']
}

interface SetUpProps {
  readonly secret: string
  readonly done: () => void
}

const SetUp = ({ secret, done }: SetUpProps): VNode => {
  const typed = useSignal<AccountForm>({ username: '', password: '', repeated: '' })
  const invalid = useSignal<FieldProblem | null>(null)
  const { run, error, isRunning } = useAction()
  const { username, password, repeated } = typed.value
  const problemOf = (name: string): string | undefined =>
    invalid.value?.[0] === name ? t(invalid.value[1]) : fieldProblems(error.value)[name]
  const create = async (): Promise<void> => {
    await callAnonymously('completeSetup', { body: { token: secret, username, password } })
    await logIn(username, password)
    done()
  }
  const isRefused = error.value instanceof ApiError && error.value.status === 403
  return form(
    {
      class: 'credentials',
      noValidate: true,
      onSubmit: (event) => {
        event.preventDefault()
        invalid.value = firstProblem(typed.value)
        if (invalid.value === null) run(create)
        else document.getElementById(invalid.value[0])?.focus()
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
    problem(isRefused ? new Error(t('set_up_refused')) : error.value),
    button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('set_up_button')),
  )
}

export const setUpForm = view(SetUp)
