import type { VNode } from 'preact'
import type { AdminLiveSession } from '../../../client/operations.ts'
import { listing } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { formatNumber, t } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import { call } from '../../state/api.ts'
import { useLoaded } from '../../state/loading.ts'
import { a, bdi, button, div, meter, p, view } from '../../ui/tags.ts'

/** The greatest number of items in one response. */
const MAX_ITEMS = 1000

interface MemoryProps {
  /** The memory of the service in MB. */
  readonly total: number
}

/** Loads the sessions only on demand, because the log records every view of other users' sessions. */
const Memory = ({ total }: MemoryProps): VNode => {
  const { state, reload } = useLoaded(
    async () => (await call('listAllLives', { query: { limit: MAX_ITEMS, status: ['pending', 'active'] } })).data, '',
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

/** Shows the reserved memory of each open session. */
export const memoryBySession = view(Memory)
