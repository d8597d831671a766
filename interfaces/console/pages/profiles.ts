import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Profile } from '../../client/operations.ts'
import { textField } from '../components/field.ts'
import { listing } from '../components/listing.ts'
import { emptyState, problem, whenLoaded } from '../components/loading.ts'
import { settingsFields, settingsOf, typedOf, DEFAULT_SETTINGS } from '../components/settings-fields.ts'
import { toast } from '../components/toast.ts'
import { formatMoment, t } from '../messages/texts.ts'
import { call } from '../state/api.ts'
import { useAction, useLoaded } from '../state/loading.ts'
import { fieldProblems } from '../state/problems.ts'
import { bdi, button, div, form, h1, h2, p, section, view } from '../ui/tags.ts'

interface EditorProps {
  /** The profile to change; null for a new profile. */
  readonly profile: Profile | null
  readonly done: () => void
  readonly cancel: () => void
}

const Editor = ({ profile, done, cancel }: EditorProps): VNode => {
  const name = useSignal(profile?.name ?? '')
  const typed = useSignal(profile === null ? DEFAULT_SETTINGS : typedOf(profile))
  const { run, error, isRunning } = useAction()
  const isOrdered = Number(typed.value.min_buffer) <= Number(typed.value.max_buffer)
  const problems: Readonly<Record<string, string>> = {
    ...fieldProblems(error.value),
    ...(isOrdered ? {} : { min_buffer: t('buffers_wrong') }),
  }
  const save = async (): Promise<void> => {
    const settings = settingsOf(typed.value)
    // An unchanged name is not sent: a name from an earlier version may break a rule of this version.
    const changedName = name.value === profile?.name ? {} : { name: name.value }
    await (profile === null ? call('createProfile', { body: { name: name.value, ...settings } })
      : call('changeProfile', { path: { id: profile.id }, body: { ...changedName, ...settings } }))
    toast(t('done'))
    done()
  }
  return section(
    null,
    h2(null, profile === null ? t('new_profile') : t('change_profile', { name: profile.name })),
    form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          if (isOrdered) run(save)
        },
      },
      textField({ id: 'name', text: t('name'), problem: problems['name'] }, name.value, (value) => (name.value = value),
        { required: true }),
      settingsFields(typed.value, problems, (changed) => (typed.value = { ...typed.value, ...changed })),
      problem(error.value),
      div(
        { class: 'actions' },
        button({ type: 'submit', class: 'primary', disabled: isRunning.value }, t('save')),
        button({ type: 'button', onClick: cancel }, t('cancel')),
      ),
    ),
  )
}

const Profiles = (): VNode => {
  const { state, reload } = useLoaded(() => call('listProfiles', { query: { limit: 1000 } }), '')
  const edited = useSignal<Profile | 'new' | null>(null)
  const { run, error } = useAction()
  const leave = (): void => {
    edited.value = null
  }
  const remove = async (id: number): Promise<void> => {
    await call('deleteProfile', { path: { id } })
    reload()
  }
  const rowOf = (profile: Profile) => ({
    key: profile.id,
    cells: [
      bdi(null, profile.name), t(profile.mode === 'final' ? 'mode_final' : 'mode_partial'), `${profile.max_delay} s`,
      formatMoment(profile.created_at),
      div(
        { class: 'actions' },
        button({ type: 'button', onClick: () => (edited.value = profile),
          'aria-label': `${t('change')}: ${profile.name}` }, t('change')),
        button({ type: 'button', class: 'danger', onClick: () => run(() => remove(profile.id)),
          'aria-label': `${t('delete')}: ${profile.name}` }, t('delete')),
      ),
    ],
  })
  const create = button({ type: 'button', class: 'primary', onClick: () => (edited.value = 'new') }, t('new_profile'))
  const done = (): void => {
    leave()
    reload()
  }
  return div(
    null,
    h1({ tabIndex: -1 }, t('profiles')),
    p(null, t('profiles_text')),
    problem(error.value),
    edited.value === null
      ? whenLoaded(state.value, reload, ({ data }) =>
          data.length === 0
            ? emptyState(t('no_profiles'), create)
            : div(null, listing(t('profiles'), [t('name'), t('mode'), t('max_delay'), t('created'), t('change')],
              data.map(rowOf)), div({ class: 'actions' }, create)))
      : view(Editor)({ profile: edited.value === 'new' ? null : edited.value, cancel: leave, done }),
  )
}

export const profilesPage = view(Profiles)
