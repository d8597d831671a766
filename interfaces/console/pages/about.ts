import type { VNode } from 'preact'
import { whenLoaded } from '../components/loading.ts'
import { t } from '../messages/texts.ts'
import { callAnonymously } from '../state/api.ts'
import { useLoaded } from '../state/loading.ts'
import { ROOT } from '../state/address.ts'
import { a, div, h1, li, p, ul, view } from '../ui/tags.ts'

const LINKS = [['docs', 'about_rest'], ['redoc', 'about_redoc'], ['openapi.json', 'about_openapi'],
  ['asyncapi.json', 'about_socket']] as const

const About = (): VNode => {
  const { state, reload } = useLoaded(() => callAnonymously('getVersion'), '')
  return div(
    null,
    h1({ tabIndex: -1 }, t('about')),
    p(null, t('about_text')),
    whenLoaded(state.value, reload, ({ version }) => p(null, `${t('about_version')} ${version}`)),
    ul(null, ...LINKS.map(([path, text]) => li({ key: path }, a({ href: `${ROOT}/${path}` }, t(text))))),
    p({ class: 'hint' }, t('about_licence')),
  )
}

export const aboutPage = view(About)
