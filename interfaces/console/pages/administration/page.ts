import type { VNode } from 'preact'
import { t, type TextName } from '../../messages/texts.ts'
import { address, linkTo } from '../../state/address.ts'
import { a, div, h1, li, nav, ul } from '../../ui/tags.ts'
import { jobsPage } from './jobs.ts'
import { modelsPage } from './models.ts'
import { overview } from './overview.ts'
import { allSessions, anyTimeline } from './sessions.ts'
import { allTokens } from './tokens.ts'
import { users } from './users.ts'

interface Part {
  readonly text: TextName
  readonly show: (id: string | undefined) => VNode
}

/** The pages by the second part of the path. */
const PARTS: Readonly<Record<string, Part>> = {
  overview: { text: 'admin_overview', show: () => overview({}) },
  users: { text: 'admin_users', show: () => users({}) },
  sessions: { text: 'admin_sessions', show: (id) =>
    (Number.isSafeInteger(Number(id)) ? anyTimeline(Number(id)) : allSessions({})) },
  models: { text: 'admin_models', show: () => modelsPage({ install: address.value.query.get('install') ?? '' }) },
  jobs: { text: 'admin_jobs', show: () => jobsPage({}) },
  tokens: { text: 'admin_tokens', show: () => allTokens({}) },
}

/** Shows the administration. For other users the service refuses the requests of these pages. */
export const administrationPage = (name = 'overview', id?: string): VNode => {
  const open = Object.hasOwn(PARTS, name) ? name : 'overview'
  return div(
    null,
    h1({ tabIndex: -1 }, t('administration')),
    nav(
      { class: 'parts', 'aria-label': t('administration') },
      ul(null, ...Object.entries(PARTS).map(([path, { text }]) =>
        li({ key: path }, a({ href: linkTo(`administration/${path}`), 'aria-current': path === open ? 'page'
          : undefined }, t(text))))),
    ),
    PARTS[open]?.show(id),
  )
}
