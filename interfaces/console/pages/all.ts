import type { VNode } from 'preact'
import { t } from '../messages/texts.ts'
import type { Address } from '../state/address.ts'
import { h1, p } from '../ui/tags.ts'
import { aboutPage } from './about.ts'
import { accountPage } from './account.ts'
import { profilesPage } from './profiles.ts'
import { sessionPage } from './session/page.ts'
import { sessionsPage } from './sessions.ts'
import { speakPage } from './speak/page.ts'
import { tokensPage } from './tokens/page.ts'

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
      ? { title: t('sessions'), show: sessionsPage(query) }
      : { title: t('session_title', { id }), show: sessionPage({ id }) },
  profiles: () => ({ title: t('profiles'), show: profilesPage({}) }),
  tokens: () => ({ title: t('api_tokens'), show: tokensPage({}) }),
  account: () => ({ title: t('account'), show: accountPage({}) }),
  about: () => ({ title: t('about'), show: aboutPage({}) }),
}

export const pageAt = (address: Address): Page => {
  const [first = 'speak'] = address.path
  return (Object.hasOwn(PAGES, first) ? PAGES[first] : undefined)?.(address) ?? nowhere()
}
