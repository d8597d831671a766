import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { User } from '../../../client/operations.ts'
import { modal } from '../../components/dialog.ts'
import { checkbox, textField } from '../../components/field.ts'
import { problem } from '../../components/loading.ts'
import { toast } from '../../components/toast.ts'
import { t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction } from '../../state/loading.ts'
import { user as self } from '../../state/login.ts'
import { fieldProblems } from '../../state/problems.ts'
import { button, div, form, p, view } from '../../ui/tags.ts'

interface EditorProps {
  /** The user to change; null for a new user. */
  readonly user: User | null
  readonly close: () => void
  readonly reload: () => void
}

const formOf = (user: User | null) => ({
  username: user?.username ?? '',
  password: '',
  sessions: String(user?.max_sessions ?? 10),
  translations: String(user?.max_translations ?? 5),
  mayKeep: user?.permissions.includes('user_retention') ?? false,
  isAdmin: user?.permissions.includes('admin') ?? false,
  isActive: user?.is_active ?? true,
})
type UserForm = ReturnType<typeof formOf>

const membersOf = ({ sessions, translations, mayKeep, isAdmin }: UserForm) => ({
  max_sessions: Number(sessions),
  max_translations: Number(translations),
  permissions: [...(mayKeep ? (['user_retention'] as const) : []), ...(isAdmin ? (['admin'] as const) : [])],
})

const Editor = ({ user, close, reload }: EditorProps): VNode => {
  const typed = useSignal(formOf(user))
  const { run, error, isRunning } = useAction()
  const problems = fieldProblems(error.value)
  const update = (changed: Partial<UserForm>): void => {
    typed.value = { ...typed.value, ...changed }
  }
  const { username, password, sessions, translations, mayKeep, isAdmin, isActive } = typed.value
  const save = async (): Promise<void> => {
    const body = membersOf(typed.value)
    await (user === null
      ? call('createUser', { body: { username, password, ...body } })
      : call('changeUser', { path: { id: user.id },
        body: { ...body, is_active: isActive, ...(password !== '' && { password }) } }))
    toast(t('done'))
    close()
    reload()
  }
  const isDemotion = user !== null && user.id === self.value?.id && (!isAdmin || !isActive)
  const quota = { type: 'number', min: 0, max: 1_000_000, required: true } as const
  return modal({
    title: user === null ? t('new_user') : t('change_user', { name: user.username }),
    close,
    closeText: t('cancel'),
    children: form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          run(save)
        },
      },
      user === null
        ? textField({ id: 'user-name', text: t('username'), problem: problems['username'] }, username, (value) =>
          update({ username: value }), {
            required: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: false,
          })
        : null,
      textField(
        { id: 'user-password', text: t('password'), hint: t(user === null ? 'password_hint' : 'new_password_hint'),
          problem: problems['password'] },
        password, (value) => update({ password: value }),
        { type: 'password', autocomplete: 'new-password', required: user === null },
      ),
      textField({ id: 'max-sessions', text: t('quota_sessions'), problem: problems['max_sessions'] }, sessions,
        (value) => update({ sessions: value }), quota),
      textField({ id: 'max-translations', text: t('quota_translations'), problem: problems['max_translations'] },
        translations, (value) => update({ translations: value }), quota),
      checkbox('may-keep', t('may_keep'), mayKeep, (checked) => update({ mayKeep: checked })),
      checkbox('is-admin', t('is_admin'), isAdmin, (checked) => update({ isAdmin: checked })),
      user === null ? null : checkbox('is-active', t('active'), isActive, (checked) => update({ isActive: checked })),
      isDemotion ? p({ class: 'notice warn', role: 'status' }, t('demote_self')) : null,
      problem(error.value),
      div({ class: 'actions' }, button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('save'))),
    ),
  })
}

/** Shows the form that creates or changes a user. */
export const userEditor = view(Editor)

interface DeletionProps {
  readonly user: User
  readonly close: () => void
  readonly reload: () => void
}

const Deletion = ({ user, close, reload }: DeletionProps): VNode => {
  const typed = useSignal('')
  const { run, error } = useAction()
  const remove = async (): Promise<void> => {
    await call('deleteUser', { path: { id: user.id } })
    toast(t('user_deleted'))
    close()
    reload()
  }
  return modal({
    title: t('delete_user_title', { name: user.username }),
    close,
    closeText: t('cancel'),
    children: form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          if (typed.value === user.username) run(remove)
        },
      },
      p(null, t('delete_user_text')),
      textField({ id: 'confirm', text: t('username') }, typed.value, (value) => (typed.value = value),
        { autocomplete: 'off', spellcheck: false }),
      problem(error.value),
      button({ type: 'submit', class: 'danger', disabled: typed.value !== user.username }, t('delete')),
    ),
  })
}

/** Shows the dialog that deletes a user. The name must be typed to confirm. */
export const userDeletion = view(Deletion)
