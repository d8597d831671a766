import type { VNode } from 'preact'
import { loadedLate } from '../components/loading.ts'
import { t } from '../messages/texts.ts'
import type { Address } from '../state/address.ts'
import { h1, p } from '../ui/tags.ts'
import { speakPage } from './speak/page.ts'

/** A page as the frame shows it. */
export interface Page {
  readonly title: string
  readonly show: ReadonlyArray<VNode> | VNode
}

const nowhere = (): Page => ({
  title: t('not_found_title'),
  show: [h1({ tabIndex: -1 }, t('not_found_title')), p(null, t('not_found_text'))],
})

/** By the first part of their path. */
const PAGES: Readonly<Record<string, (address: Address) => Page>> = {
  speak: () => ({ title: t('speak'), show: speakPage({}) }),
  sessions: ({ path: [, id], query }) =>
    id === undefined
      ? { title: t('sessions'),
        show: loadedLate(() => import('./sessions.ts'), ({ sessionsPage }) => sessionsPage(query)) }
      : { title: t('session_title', { id }),
        show: loadedLate(() => import('./session/page.ts'), ({ sessionPage }) => sessionPage({ id })) },
  profiles: () => ({ title: t('profiles'),
    show: loadedLate(() => import('./profiles.ts'), ({ profilesPage }) => profilesPage({})) }),
  tokens: () => ({ title: t('api_tokens'),
    show: loadedLate(() => import('./tokens/page.ts'), ({ tokensPage }) => tokensPage({})) }),
  administration: ({ path: [, part, id] }) => ({
    title: t('administration'),
    show: loadedLate(() => import('./administration/page.ts'), ({ administrationPage }) =>
      administrationPage(part, id)),
  }),
  account: () => ({ title: t('account'),
    show: loadedLate(() => import('./account.ts'), ({ accountPage }) => accountPage({})) }),
  about: () => ({ title: t('about'), show: loadedLate(() => import('./about.ts'), ({ aboutPage }) => aboutPage({})) }),
}

/** The page at an address. */
export const pageAt = (address: Address): Page => {
  const [first = 'speak'] = address.path
  return (Object.hasOwn(PAGES, first) ? PAGES[first] : undefined)?.(address) ?? nowhere()
}
