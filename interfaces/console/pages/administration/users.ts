import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { User } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { listing, pager } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { formatMoment, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { bdi, button, div, view } from '../../ui/tags.ts'
import { userDeletion, userEditor } from './user-editor.ts'

const PAGE_SIZE = 50

type OpenDialog =
  | { readonly what: 'edit'; readonly user: User | null }
  | { readonly what: 'delete'; readonly user: User }

const Users = (): VNode => {
  const skip = useSignal(0)
  const open = useSignal<OpenDialog | null>(null)
  const { state, reload } = useLoaded(() => call('listUsers', { query: { skip: skip.value, limit: PAGE_SIZE } }),
    String(skip.value))
  const close = (): void => {
    open.value = null
  }
  const rowOf = (user: User) => ({
    key: user.id,
    cells: [
      bdi(null, user.username), user.is_active ? badge('good', '✓', t('active')) : badge('warn', '!', t('inactive')),
      user.permissions.map((permission) => t(`permission_${permission}`)).join(', ') || '–',
      `${user.max_sessions} / ${user.max_translations}`, formatMoment(user.created_at),
      div(
        { class: 'actions' },
        button({ type: 'button', 'aria-label': `${t('change')}: ${user.username}`, onClick: () =>
          (open.value = { what: 'edit', user }) }, t('change')),
        button({ type: 'button', class: 'danger', 'aria-label': `${t('delete')}: ${user.username}`, onClick: () =>
          (open.value = { what: 'delete', user }) }, t('delete')),
      ),
    ],
  })
  const columns = [t('username'), t('state'), t('permissions'), `${t('sessions')} / ${t('into')}`, t('created'),
    t('change')]
  const shown = open.value
  return div(
    null,
    whenLoaded(state.value, reload, ({ data, pagination }) =>
      div(null, listing(t('admin_users'), columns, data.map(rowOf)), pager(pagination, (to) => (skip.value = to)))),
    div({ class: 'actions' },
      button({ type: 'button', class: 'primary', onClick: () => (open.value = { what: 'edit', user: null }) },
        t('new_user'))),
    shown?.what === 'edit' ? userEditor({ user: shown.user, close, reload }) : null,
    shown?.what === 'delete' ? userDeletion({ user: shown.user, close, reload }) : null,
  )
}

export const users = view(Users)
