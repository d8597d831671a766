import type { VNode } from 'preact'
import type { LiveSession } from '../../client/operations.ts'
import { t } from '../messages/texts.ts'
import { badge } from './badge.ts'

const BADGES = { pending: ['accent', '○'], active: ['good', '●'], finished: ['muted', '✓'],
  error: ['bad', '!'] } as const

/** True for a session that has not ended. */
export const isOpen = ({ status }: Pick<LiveSession, 'status'>): boolean => status === 'pending' || status === 'active'

export const statusBadge = (status: LiveSession['status']): VNode => {
  const [tone, sign] = BADGES[status]
  return badge(tone, sign, t(`status_${status}`))
}
