import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { listing, pager } from '../../components/listing.ts'
import { problem, whenLoaded } from '../../components/loading.ts'
import { formatMoment, t } from '../../messages/texts.ts'
import { call } from '../../state/api.ts'
import { useAction, useLoaded } from '../../state/loading.ts'
import { bdi, button, code, div, view } from '../../ui/tags.ts'
import { tokenBadge } from '../tokens/page.ts'

const PAGE_SIZE = 50

const AllTokens = (): VNode => {
  const skip = useSignal(0)
  const { state, reload } = useLoaded(() => call('listAllTokens', { query: { skip: skip.value, limit: PAGE_SIZE } }),
    String(skip.value))
  const { run, error } = useAction()
  const revoke = async (id: number): Promise<void> => {
    await call('deleteAnyToken', { path: { id } })
    reload()
  }
  const columns = [t('owner'), t('token_name'), t('prefix'), t('state'), t('expiry'), t('last_used'), t('change')]
  return div(
    null,
    problem(error.value),
    whenLoaded(state.value, reload, ({ data, pagination }) =>
      div(
        null,
        listing(t('admin_tokens'), columns, data.map((token) => ({
          key: token.id,
          cells: [
            bdi(null, token.username), bdi(null, token.name), code(null, `${token.token_prefix}…`), tokenBadge(token),
            token.expires_at === null ? t('expiry_never') : formatMoment(token.expires_at), token.last_used_at === null
              ? t('never') : formatMoment(token.last_used_at),
            button({ type: 'button', class: 'danger', 'aria-label': `${t('revoke')}: ${token.name}`, onClick: () =>
              run(() => revoke(token.id)) }, t('revoke')),
          ],
        }))),
        pager(pagination, (to) => (skip.value = to)),
      )),
  )
}

export const allTokens = view(AllTokens)
