import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { ApiToken } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { modal } from '../../components/dialog.ts'
import { textField } from '../../components/field.ts'
import { listing, pager } from '../../components/listing.ts'
import { emptyState, problem, whenLoaded } from '../../components/loading.ts'
import { toast } from '../../components/toast.ts'
import { formatMoment, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction, useLoaded } from '../../state/loading.ts'
import { fieldProblems } from '../../state/problems.ts'
import { bdi, button, code, div, form, h1, p, view } from '../../ui/tags.ts'
import { newToken } from './new-token.ts'

type TokenState = Pick<ApiToken, 'is_active' | 'expires_at'>

export const tokenBadge = ({ is_active: isActive, expires_at: end }: TokenState): VNode => {
  if (end !== null && Date.parse(end) <= Date.now()) return badge('muted', '○', t('token_expired'))
  return isActive ? badge('good', '✓', t('token_active')) : badge('warn', '!', t('token_off'))
}

interface TokenDialogProps {
  readonly token: ApiToken
  readonly close: () => void
  readonly reload: () => void
}

const Rename = ({ token, close, reload }: TokenDialogProps): VNode => {
  const name = useSignal(token.name)
  const { run, error } = useAction()
  const rename = async (): Promise<void> => {
    await call('changeToken', { path: { id: token.id }, body: { name: name.value } })
    close()
    reload()
  }
  return modal({
    title: `${t('rename')}: ${token.name}`, close, closeText: t('cancel'),
    children: form(
      {
        onSubmit: (event) => {
          event.preventDefault()
          run(rename)
        },
      },
      textField({ id: 'new-name', text: t('token_name'), problem: fieldProblems(error.value)['name'] }, name.value,
        (value) => (name.value = value), { required: true }),
      problem(error.value),
      div({ class: 'actions' }, button({ type: 'submit', class: 'primary' }, t('save'))),
    ),
  })
}

const Revoke = ({ token, close, reload }: TokenDialogProps): VNode => {
  const { run, error } = useAction()
  const revoke = async (): Promise<void> => {
    await call('deleteToken', { path: { id: token.id } })
    toast(t('done'))
    close()
    reload()
  }
  return modal({
    title: t('revoke_title', { name: token.name }), close, closeText: t('cancel'),
    children: [
      p(null, t('revoke_text')), problem(error.value),
      div({ class: 'actions' }, button({ type: 'button', class: 'danger', onClick: () => run(revoke) }, t('revoke'))),
    ],
  })
}

const PAGE_SIZE = 50

type OpenDialog = { readonly what: 'new' } | { readonly what: 'rename' | 'revoke'; readonly token: ApiToken }

const Tokens = (): VNode => {
  const skip = useSignal(0)
  const { state, reload } = useLoaded(() => call('listTokens', { query: { skip: skip.value, limit: PAGE_SIZE } }),
    String(skip.value))
  const open = useSignal<OpenDialog | null>(null)
  const { run, error } = useAction()
  const close = (): void => {
    open.value = null
  }
  const toggleActive = async ({ id, is_active: isActive }: ApiToken): Promise<void> => {
    await call('changeToken', { path: { id }, body: { is_active: !isActive } })
    reload()
  }
  const actionButton = (text: string, name: string, onClick: () => void, isDanger = false): VNode =>
    button({ type: 'button', onClick, class: isDanger ? 'danger' : '', 'aria-label': `${text}: ${name}` }, text)
  const rowOf = (token: ApiToken) => ({
    key: token.id,
    cells: [
      bdi(null, token.name), code(null, `${token.token_prefix}…`), tokenBadge(token),
      token.expires_at === null ? t('expiry_never') : formatMoment(token.expires_at),
      token.last_used_at === null ? t('never') : formatMoment(token.last_used_at),
      div(
        { class: 'actions' },
        actionButton(t(token.is_active ? 'switch_off' : 'switch_on'), token.name, () => run(() => toggleActive(token))),
        actionButton(t('rename'), token.name, () => (open.value = { what: 'rename', token })),
        actionButton(t('revoke'), token.name, () => (open.value = { what: 'revoke', token }), true),
      ),
    ],
  })
  const create = button({ type: 'button', class: 'primary', onClick: () => (open.value = { what: 'new' }) },
    t('new_token'))
  const columns = [t('token_name'), t('prefix'), t('state'), t('expiry'), t('last_used'), t('change')]
  const shown = open.value
  return div(
    null,
    h1({ tabIndex: -1 }, t('api_tokens')),
    problem(error.value),
    whenLoaded(state.value, reload, ({ data, pagination }) =>
      data.length === 0 && skip.value === 0
        ? emptyState(t('no_tokens'), create)
        : div(null, listing(t('api_tokens'), columns, data.map(rowOf)), pager(pagination, (to) => (skip.value = to)),
          div({ class: 'actions' }, create))),
    shown?.what === 'new' ? newToken({ close, created: reload }) : null,
    shown?.what === 'rename' ? view(Rename)({ token: shown.token, close, reload }) : null,
    shown?.what === 'revoke' ? view(Revoke)({ token: shown.token, close, reload }) : null,
  )
}

export const tokensPage = view(Tokens)
