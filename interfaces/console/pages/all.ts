import type { VNode } from 'preact'
import { lazyPart } from '../components/loading.ts'
import { t } from '../messages/texts.ts'
import type { Address } from '../state/address.ts'
import { h1, p } from '../ui/tags.ts'
import { speakPage } from './speak/page.ts'

export interface Page {
  readonly title: string
  readonly show: ReadonlyArray<VNode> | VNode
}

const notFoundPage = (): Page => ({
  title: t('not_found_title'),
  show: [h1({ tabIndex: -1 }, t('not_found_title')), p(null, t('not_found_text'))],
})

/** The pages by the first part of the path. */
const PAGES: Readonly<Record<string, (address: Address) => Page>> = {
  speak: () => ({ title: t('speak'), show: speakPage({}) }),
  sessions: ({ path: [, id], query }) =>
    id === undefined
      ? { title: t('sessions'),
        show: lazyPart(() => import('./sessions.ts'), ({ sessionsPage }) => sessionsPage(query)) }
      : { title: t('session_title', { id }),
        show: lazyPart(() => import('./session/page.ts'), ({ sessionPage }) => sessionPage({ id })) },
  profiles: () => ({ title: t('profiles'),
    show: lazyPart(() => import('./profiles.ts'), ({ profilesPage }) => profilesPage({})) }),
  tokens: () => ({ title: t('api_tokens'),
    show: lazyPart(() => import('./tokens/page.ts'), ({ tokensPage }) => tokensPage({})) }),
  administration: ({ path: [, part, id] }) => ({
    title: t('administration'),
    show: lazyPart(() => import('./administration/page.ts'), ({ administrationPage }) =>
      administrationPage(part, id)),
  }),
  account: () => ({ title: t('account'),
    show: lazyPart(() => import('./account.ts'), ({ accountPage }) => accountPage({})) }),
  about: () => ({ title: t('about'), show: lazyPart(() => import('./about.ts'), ({ aboutPage }) => aboutPage({})) }),
}

export const pageAt = (address: Address): Page => {
  const [first = 'speak'] = address.path
  return (Object.hasOwn(PAGES, first) ? PAGES[first] : undefined)?.(address) ?? notFoundPage()
}
