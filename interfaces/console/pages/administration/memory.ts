import type { VNode } from 'preact'
import type { AdminLiveSession } from '../../../client/operations.ts'
import { listing } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { formatNumber, t } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import { call } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { a, bdi, button, div, meter, p, view } from '../../ui/tags.ts'

/** The most that one answer lists. */
const MOST = 1000

interface MemoryProps {
  /** All that the service has, in MB. */
  readonly total: number
}

/** Asked for on demand: each look at sessions of others is an event. */
const Memory = ({ total }: MemoryProps): VNode => {
  const { state, reload } = useLoaded(
    async () => (await call('listAllLives', { query: { limit: MOST, status: ['pending', 'active'] } })).data, '',
  )
  const rowOf = ({ id, username, model, vram }: AdminLiveSession) => ({
    key: id,
    cells: [
      a({ href: linkTo(`administration/sessions/${id}`) }, String(id)), bdi(null, username), bdi(null, model.name),
      formatNumber(vram),
      meter({ 'aria-label': t('memory_of', { used: formatNumber(vram), total: formatNumber(total) }), min: 0,
        max: Math.max(1, total), value: vram }),
    ],
  })
  const columns = [t('session_id'), t('owner'), t('model'), t('memory_mb'), t('share_of_all')]
  return div(
    null,
    button({ type: 'button', onClick: reload }, t('refresh')),
    whenLoaded(state.value, reload, (lives) => (lives.length === 0 ? p({ class: 'hint' }, t('memory_none'))
      : listing(t('memory_by_session'), columns, lives.toSorted((x, y) => y.vram - x.vram).map(rowOf)))),
  )
}

/** The memory that each open session has reserved. */
export const memoryBySession = view(Memory)
